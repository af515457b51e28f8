"""Writes Parquet with pyarrow and prints the rows that pyarrow reads; trains tokenizers and prints their counts."""

import base64
import datetime
import decimal
import json
import os
import random
import sys


def plain(value):
    """As JSON has it, by the same rules as datasets/parquet-values.ts."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03d}Z"
    if isinstance(value, datetime.date):
        return f"{value.isoformat()}T00:00:00.000Z"
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()}


def table(rows):
    import pyarrow as pa

    chance = random.Random(7)
    words = ["model", "größer", "模型", "🙂", "row", "\u2028", '"quoted"', "a\nb"]
    text = lambda: " ".join(["model", *(chance.choice(words) for _ in range(chance.randrange(30)))])
    maybe = lambda value: None if chance.random() < 0.2 else value
    call = pa.struct([("id", pa.string()), ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())]))])
    message = pa.struct([("role", pa.string()), ("content", pa.string()), ("tool_calls", pa.list_(call))])
    conversation = lambda: [
        {"role": "user", "content": text()},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "content": text()},
        {"role": "assistant", "content": text()},
    ]
    start = datetime.datetime(2026, 11, 27, 16, 0, 0, 123000)
    columns = {
        "messages": pa.array([conversation() for _ in range(rows)], pa.list_(message)),
        "note": pa.array([maybe(text()) for _ in range(rows)], pa.large_string()),
        "source": pa.array([chance.choice(words) for _ in range(rows)]).dictionary_encode(),
        "small": pa.array([maybe(chance.randrange(-128, 128)) for _ in range(rows)], pa.int8()),
        "large": pa.array([chance.randrange(-(2**62), 2**62) for _ in range(rows)], pa.int64()),
        "unsigned": pa.array([chance.randrange(2**32) for _ in range(rows)], pa.uint32()),
        "score": pa.array([maybe(chance.random()) for _ in range(rows)], pa.float64()),
        "bad": pa.array([chance.choice([float("nan"), float("inf"), 1.5]) for _ in range(rows)], pa.float64()),
        "good": pa.array([maybe(chance.random() < 0.5) for _ in range(rows)], pa.bool_()),
        "at": pa.array([start + datetime.timedelta(seconds=at) for at in range(rows)], pa.timestamp("us")),
        "day": pa.array([start.date() + datetime.timedelta(days=at) for at in range(rows)], pa.date32()),
        "price": pa.array([decimal.Decimal(at) / 4 for at in range(rows)], pa.decimal128(10, 2)),
        "tags": pa.array([maybe([maybe(text()) for _ in range(at % 4)]) for at in range(rows)], pa.list_(pa.string())),
        "grid": pa.array([[[at, None], [], [1]] for at in range(rows)], pa.list_(pa.list_(pa.int32()))),
        "raw": pa.array([os.urandom(5) for _ in range(rows)], pa.binary()),
    }
    return pa.table(columns)


def parquet(folder):
    import pyarrow.parquet as pq

    data = table(2500)
    writings = {
        "plain": {"compression": "none", "use_dictionary": False},
        "snappy": {"compression": "snappy"},
        "gzip": {"compression": "gzip"},
        "zstd": {"compression": "zstd", "row_group_size": 700},
        "brotli": {"compression": "brotli", "row_group_size": 1},
        "pages2": {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 999},
        "small-pages": {"compression": "snappy", "data_page_size": 512, "write_page_index": True},
        "delta": {
            "use_dictionary": False,
            "column_encoding": {"large": "DELTA_BINARY_PACKED", "note": "DELTA_BYTE_ARRAY", "score": "BYTE_STREAM_SPLIT"},
        },
    }
    for name, options in writings.items():
        part = data.slice(0, 40) if name == "brotli" else data
        path = os.path.join(folder, f"{name}.parquet")
        pq.write_table(part, path, **options)
        rows = [plain(row) for row in pq.read_table(path).to_pylist()]
        with open(os.path.join(folder, f"{name}.json"), "w") as file:
            json.dump(rows, file)
    import pyarrow as pa

    pq.write_table(pa.table({"text": ["x", "y"]}), os.path.join(folder, "text.parquet"))
    pq.write_table(pa.table({"text": ["x", "", "z"]}), os.path.join(folder, "empty-text.parquet"), row_group_size=1)
    pq.write_table(pa.table({"text": [b"x"]}), os.path.join(folder, "bytes.parquet"))
    pq.write_table(pa.table({"text": ["x", None]}), os.path.join(folder, "null-text.parquet"))
    pq.write_table(pa.table({"words": ["x", "y"]}), os.path.join(folder, "no-kind.parquet"))
    pq.write_table(pa.table({"text": [1, 2]}), os.path.join(folder, "numbers.parquet"))
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), os.path.join(folder, "no-rows.parquet"))
    pq.write_table(pa.table({"text": ["x"]}), os.path.join(folder, "lz4.parquet"), compression="lz4")
    pq.write_table(pa.table({"text": pa.array([b"ok", b"\xff"], pa.binary()).view(pa.string())}), os.path.join(folder, "not-utf8.parquet"))
    rows = 300
    long = ["%d %s" % (at, "x" * 1_000_000) for at in range(rows)]
    pq.write_table(pa.table({"text": long}), os.path.join(folder, "large-group.parquet"), compression="zstd")


def tokens(folder):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    with open(os.path.join(folder, "texts.json")) as file:
        texts = json.load(file)
    special = ["<|im_start|>", "<|im_end|>", "[UNK]"]
    byte_level = Tokenizer(models.BPE())
    byte_level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level.decoder = decoders.ByteLevel()
    word_piece = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    word_piece.normalizer = normalizers.BertNormalizer(lowercase=True)
    word_piece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    unigram = Tokenizer(models.Unigram())
    unigram.normalizer = normalizers.NFKC()
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trained = {
        "byte-level": (byte_level, trainers.BpeTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet)),
        "word-piece": (word_piece, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special)),
        "unigram": (unigram, trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="[UNK]")),
    }
    counts = {}
    for name, (tokenizer, trainer) in trained.items():
        tokenizer.train_from_iterator(texts, trainer)
        tokenizer.save(os.path.join(folder, f"{name}.json"))
        counts[name] = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
    json.dump(counts, sys.stdout)


{"parquet": parquet, "tokens": tokens}[sys.argv[1]](sys.argv[2])
