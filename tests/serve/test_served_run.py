"""A run as the server uses it: from several threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from nmt.serve.served_run import ServedRun


def test_attention_is_that_of_its_own_sentence_while_others_translate(served: ServedRun) -> None:
    alone = served.inspect("Anna sings today.").cross.weights
    with ThreadPoolExecutor(2) as threads:
        others = [threads.submit(served.translate, ["Ben reads at home."], 1) for _ in range(30)]
        found = [threads.submit(served.inspect, "Anna sings today.") for _ in range(10)]
        for each in found:
            np.testing.assert_allclose(each.result().cross.weights, alone, atol=1e-5)
        for other in others:
            assert other.result()[0][0].text == "Ben liest zu Hause."
