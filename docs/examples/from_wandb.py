"""Code written for W&B, with another import: `python docs/examples/from_wandb.py` after `forge login`."""

import forge.wandb as wandb

run = wandb.init(project="demo", config={"lr": 0.1}, tags=["from-wandb"])
loss = 1.0
for step in range(100):
    loss *= 1 - wandb.config.lr / 10
    wandb.log({"loss": loss, "step/even": step % 2 == 0})
wandb.summary["final_loss"] = loss
wandb.finish()
