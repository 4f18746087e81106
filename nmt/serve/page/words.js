// Attention between words, from attention between tokens.

const WORD = /[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+/gu;

// Splits a text into words and the text between them: [{text, word, tokens}], tokens by index.
// The server counts characters as code points.
export function cut(text, spans) {
  const found = [];
  let place = 0; // code points
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    if (match.index > end) {
      const gap = text.slice(end, match.index);
      found.push({ text: gap, word: false, tokens: [] });
      place += [...gap].length;
    }
    const length = [...match[0]].length;
    const tokens = (spans ?? []).flatMap(([from, to], i) => (from < place + length && place < to ? [i] : []));
    found.push({ text: match[0], word: true, tokens });
    place += length;
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), word: false, tokens: [] });
  return found;
}

// Returns the words of both sides, each with its tokens; the tokens themselves where spans are unknown.
// targetIsWords tells which of the two `target` has.
export function bothSides(sentence) {
  const found = sentence.attention;
  const side = (text, spans, tokens) => {
    const words = cut(text, spans).filter((each) => each.word);
    if (spans && words.every((word) => word.tokens.length)) return [words, true];
    const found = tokens.slice(0, -1).map((token, i) => ({ text: token.replace(/[▁￭]/g, "") || "␣", word: true, tokens: [i] }));
    return [found, false];
  };
  const [source] = side(sentence.source, found.source_spans, found.source_tokens);
  const [target, targetIsWords] = side(sentence.translations[0].text, found.target_spans, found.target_tokens);
  return { source, target, targetIsWords };
}

// Returns the weights of one layer and head, or averages: [target word][source word].
export function weights(sentence, sides, layer, head) {
  const { cross } = sentence.attention;
  const layers = layer === "average" ? cross : [cross[layer]];
  const maps = layers.flatMap((heads) => (head === "average" ? heads : [heads[head]]));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return sides.target.map((target) =>
    sides.source.map((source) =>
      mean(maps.flatMap((map) => target.tokens.map((row) => source.tokens.reduce((sum, column) => sum + map[row][column], 0)))),
    ),
  );
}

// The model's probability of a word: the product over its tokens.
export function probability(sentence, word) {
  return Math.exp(word.tokens.reduce((sum, token) => sum + sentence.attention.log_probabilities[token], 0));
}
