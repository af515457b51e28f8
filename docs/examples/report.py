"""Reports a made-up loss to Forge: `pip install ./clients/python`, then `forge run -- python docs/examples/report.py`."""

import forge

with forge.init({"lr": 0.1}) as run:
    for step in range(1000):
        run.log({"loss": 0.1 + 0.9 * (1 - 0.1 * 0.05) ** step}, step)
