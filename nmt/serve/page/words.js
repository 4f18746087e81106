// Attention between words, from attention between pieces.

const WORD = /[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+/gu;

// Splits a text into words and the text between them: [{text, word, pieces}], pieces by index.
// The server counts characters as code points.
export function cut(text, spans) {
  const found = [];
  let place = 0; // code points
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    if (match.index > end) {
      const gap = text.slice(end, match.index);
      found.push({ text: gap, word: false, pieces: [] });
      place += [...gap].length;
    }
    const length = [...match[0]].length;
    const pieces = (spans ?? []).flatMap(([from, to], i) => (from < place + length && place < to ? [i] : []));
    found.push({ text: match[0], word: true, pieces });
    place += length;
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), word: false, pieces: [] });
  return found;
}

// Returns the words of both sides, each with its pieces; the pieces themselves where spans are unknown.
// targetIsWords tells which of the two `target` has.
export function bothSides(sentence) {
  const found = sentence.attention;
  const side = (text, spans, pieces) => {
    const words = cut(text, spans).filter((each) => each.word);
    if (spans && words.every((word) => word.pieces.length)) return [words, true];
    const found = pieces.slice(0, -1).map((piece, i) => ({ text: piece.replace(/[▁￭]/g, "") || "␣", word: true, pieces: [i] }));
    return [found, false];
  };
  const [source] = side(sentence.source, found.source_spans, found.source_pieces);
  const [target, targetIsWords] = side(sentence.translations[0].text, found.target_spans, found.target_pieces);
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
      mean(maps.flatMap((map) => target.pieces.map((row) => source.pieces.reduce((sum, column) => sum + map[row][column], 0)))),
    ),
  );
}

// The model's probability of a word: the product over its pieces.
export function probability(sentence, word) {
  return Math.exp(word.pieces.reduce((sum, piece) => sum + sentence.attention.log_probabilities[piece], 0));
}
