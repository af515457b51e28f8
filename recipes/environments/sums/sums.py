"""Asks for the sum of two numbers; the reward is 1 for the right one, and a little less than that for an answer nearby."""

import random
import re


def rollout(client, args):
    a, b = random.randint(0, args["largest"]), random.randint(0, args["largest"])
    question = "What is %d + %d? Reply with the number only." % (a, b)
    answer = client.chat.completions.create(
        messages=[{"role": "user", "content": question}], max_tokens=16, temperature=1.0
    )
    said = answer.choices[0].message.content or ""
    return {"reward": score(said, a + b), "question": question, "answer": said}


def score(said, wanted):
    numbers = re.findall(r"-?\d+", said)
    if not numbers:
        return 0.0
    # Huge numbers are as wrong as any.
    distance = abs(int(numbers[-1][:12]) - wanted)
    return 1.0 if distance == 0 else max(0.0, 0.5 - distance / (2.0 * (wanted + 1)))
