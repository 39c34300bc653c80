# SPDX-License-Identifier: Apache-2.0
"""Trains the demo model with the tokenizer in the run folder. Stop it at any time; the same command
goes on from the last checkpoint.

    python train.py RUN_FOLDER                     constant learning rate, until stopped
    python train.py RUN_FOLDER --anneal STEPS      then: it falls to zero in STEPS, and the end

Another fall after that starts from `--lr-scale` times the full rate.

Every other step of the last half of the fall computes with q4_0 weights.
"""

import argparse
import json
import os
import signal
import time
from pathlib import Path

import torch
import torch.nn.functional as F

from batches import POOL, Encoder, by_length, make_batch, training_batches
from log_generator import MAX_LINES, TRAIN_SEED, VALIDATION_SEED, make_example
from model import DemoModel, Precision
from muon import make_optimisers

WARM_UP_STEPS = 100
CURRICULUM_START, CURRICULUM_STEPS = 5, 500  # most lines of a log at first; steps until all lines
LOG_POSITIONS, LOG_WEIGHT = 32, 0.25  # a log, while its lines grow; weight of their loss
EVALUATE_EVERY, SAVE_EVERY_S = 200, 300
VALIDATION_LOGS = 200


def save(path: Path, state: dict) -> None:
    temporary = path.with_suffix(".tmp")
    torch.save(state, temporary)
    os.replace(temporary, path)


def validation_batches(encoder: Encoder, count: int, first_seed: int = VALIDATION_SEED) -> list:
    encoded = [encoder.encode(make_example(first_seed + i)) for i in range(count)]
    return [make_batch(group, encoder.end) for group in by_length(encoded, 16384)]


@torch.no_grad()
def exact_matches(model: DemoModel, batches: list, precision: Precision) -> tuple[float, float]:
    """(share of answers whose every token is the argmax, share of tokens). With the right answer
    as context so far, all-argmax is the same as a right greedy answer."""
    exact = examples = right = tokens = 0
    for batch in batches:
        logits, _ = model(batch.ids, batch.select, precision)
        wanted = batch.weights > 0
        hit = logits.argmax(-1) == batch.targets
        exact += (hit | ~wanted).all(1).sum().item()
        examples += len(hit)
        right += (hit & wanted).sum().item()
        tokens += wanted.sum().item()
    return exact / examples, right / tokens


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("--anneal", type=int, default=0, metavar="STEPS")
    parser.add_argument("--token-budget", type=int, default=8192)
    parser.add_argument("--lr-scale", type=float, default=1.0)
    args = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(1)
    encoder = Encoder(args.run)
    validation = validation_batches(encoder, VALIDATION_LOGS)
    model = DemoModel()
    optimisers = make_optimisers(model)
    state = {"step": 0, "seed": TRAIN_SEED, "seconds": 0.0, "anneal_from": None}
    checkpoint = args.run / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        for optimiser, old in zip(optimisers, saved["optimisers"]):
            optimiser.load_state_dict(old)
        state = saved["state"]
    if args.anneal and state["anneal_from"] is None:
        state["anneal_from"] = state["step"]

    def save_all(path: Path) -> None:
        save(path, {"model": model.state_dict(), "state": state,
                    "optimisers": [o.state_dict() for o in optimisers]})

    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    log = open(args.run / "log.jsonl", "a", buffering=1)
    saved_at = began = time.time()
    spent, loss_sum, loss_count = state["seconds"], 0.0, 0
    while True:
        step = state["step"]
        grown = min(1.0, step / CURRICULUM_STEPS)
        max_lines = round(CURRICULUM_START + grown * (MAX_LINES - CURRICULUM_START))
        # Logs are mostly noise: once copying is learnt, their loss would drown that of the answers.
        log_positions = LOG_POSITIONS if grown < 1 else 0
        for batch in training_batches(encoder, state["seed"], args.token_budget, max_lines,
                                      log_positions, LOG_WEIGHT):
            step = state["step"]
            left = 1.0
            if args.anneal:
                left = 1 - (step - state["anneal_from"]) / args.anneal
                if left <= 0:
                    state["anneal_from"] = None
                    save_all(checkpoint)
                    save_all(args.run / "annealed.pt")
                    return
            if stop:  # this pool begins again
                save_all(checkpoint)
                return
            precision = Precision(torch.bfloat16, q4=left < 0.5 and step % 2 == 0)
            for optimiser in optimisers:
                for group in optimiser.param_groups:
                    group["lr"] = group["base_lr"] * args.lr_scale * min(
                        1.0, (step + 1) / WARM_UP_STEPS, left)
            logits, router_loss = model(batch.ids, batch.select, precision)
            losses = F.cross_entropy(logits.flatten(0, 1).float(), batch.targets.flatten(),
                                     reduction="none")
            weights = batch.weights.flatten()
            answer_loss = losses[weights == 1].mean()
            loss = answer_loss + router_loss
            if log_positions:
                loss = loss + LOG_WEIGHT * losses[weights == LOG_WEIGHT].mean()
            for optimiser in optimisers:
                optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimiser in optimisers:
                optimiser.step()
            loss_sum += answer_loss.item()
            loss_count += 1
            state["step"] += 1
            state["seconds"] = spent + time.time() - began
            if state["step"] % 50 == 0:
                entry = {"step": state["step"], "minutes": round(state["seconds"] / 60, 1),
                         "lines": max_lines, "loss": round(loss_sum / loss_count, 4),
                         "seed": state["seed"]}
                loss_sum, loss_count = 0.0, 0
                if state["step"] % EVALUATE_EVERY == 0:
                    for name, q4 in (("bf16", False), ("q4_0", True)):
                        exact, tokens = exact_matches(model, validation,
                                                      Precision(torch.bfloat16, q4))
                        entry[name] = round(100 * exact, 1)
                        entry[name + "_tokens"] = round(100 * tokens, 2)
                log.write(json.dumps(entry) + "\n")
        state["seed"] += POOL
        if time.time() - saved_at > SAVE_EVERY_S:
            save_all(checkpoint)
            saved_at = time.time()


if __name__ == "__main__":
    main()
