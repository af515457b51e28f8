import { traceback } from './given.ts'
import type { Told } from './machine-failures.ts'

/** Texts of programs and libraries, by family. */
export const programFailures: Record<string, readonly Told[]> = {
  'the model hub': [
    [
      'hub_access',
      'auth',
      traceback(
        'huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-6)\n\nCannot access gated repo for url https://huggingface.co/meta-llama/Llama-3.1-8B/resolve/main/config.json.\nAccess to model meta-llama/Llama-3.1-8B is restricted.',
      ),
    ],
    [
      'hub_access',
      'auth',
      traceback(
        'requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/models/acme/private',
      ),
    ],
    [
      'hub_access',
      'rate_limit',
      traceback(
        'huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/datasets/gsm8k',
      ),
    ],
    [
      'hub_access',
      'not_found',
      traceback(
        "OSError: acme/no-such-model is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
      ),
    ],
    [
      'hub_access',
      'unreachable',
      traceback(
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
      ),
    ],
    [
      'hub_access',
      'unreachable',
      traceback(
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /x (Caused by NameResolutionError)",
      ),
    ],
  ],
  data: [
    [
      'data_error',
      'json',
      traceback('json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)'),
    ],
    [
      'data_error',
      'encoding',
      traceback(
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
      ),
    ],
    ['data_error', 'table', traceback("ValueError: could not convert string to float: 'n/a'")],
    [
      'data_error',
      'table',
      traceback(
        'pandas.errors.ParserError: Error tokenizing data. C error: Expected 5 fields in line 17, saw 6',
      ),
    ],
    [
      'data_error',
      'dataset',
      traceback(
        'pyarrow.lib.ArrowInvalid: Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file.',
      ),
    ],
    [
      'data_error',
      'dataset',
      traceback(
        'datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset',
      ),
    ],
    [
      'data_error',
      'damaged',
      traceback("PIL.UnidentifiedImageError: cannot identify image file '/data/7.jpg'"),
    ],
    ['data_error', 'sample', traceback('IndexError: index out of range in self')],
    [
      'data_error',
      'reader',
      traceback(
        "KeyError: 'answer'",
        ['/job/train.py', 'main'],
        ['/job/dataset.py', '__getitem__'],
      ),
    ],
    ['data_error', 'damaged', traceback("gzip.BadGzipFile: Not a gzipped file (b'ab')")],
    [
      'data_error',
      'missing',
      traceback("FileNotFoundError: [Errno 2] No such file or directory: '/data/train.jsonl'"),
    ],
    [
      'data_error',
      'missing',
      traceback(
        "FileNotFoundError: [Errno 2] Unable to synchronously open file (unable to open file: name = 'data/x.h5', errno = 2)",
        ['/job/train.py', 'main'],
        ['/usr/lib/python3/site-packages/h5py/_hl/files.py', 'make_fid'],
      ),
    ],
    [
      'code_exception',
      'FileNotFoundError',
      traceback("FileNotFoundError: [Errno 2] No such file or directory: '/job/steps/prepare.py'"),
    ],
    [
      'code_exception',
      'FileNotFoundError',
      traceback(
        "FileNotFoundError: [Errno 2] No such file or directory: '/usr/bin/ffmpeg'",
        ['/job/train.py', 'main'],
        ['/usr/lib/python3.12/subprocess.py', '_execute_child'],
      ),
    ],
    [
      'data_error',
      'reader',
      traceback(
        "KeyError: 'question'",
        ['/job/train.py', 'read_records'],
        ['/job/train.py', '<listcomp>'],
      ),
    ],
  ],
  checkpoints: [
    [
      'checkpoint_error',
      'mismatch',
      traceback(
        'RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param with shape torch.Size([10, 512]) from checkpoint, the shape in current model is torch.Size([10, 256]).',
      ),
    ],
    [
      'checkpoint_error',
      'damaged',
      traceback(
        'RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory',
      ),
    ],
    [
      'checkpoint_error',
      'damaged',
      traceback("_pickle.UnpicklingError: invalid load key, '\\x00'."),
    ],
    [
      'checkpoint_error',
      'damaged',
      traceback(
        'safetensors_rust.SafetensorError: Error while deserializing header: InvalidHeaderDeserialization',
      ),
    ],
    [
      'checkpoint_error',
      'missing',
      traceback(
        "FileNotFoundError: [Errno 2] No such file or directory: '/job/checkpoints/step-100/model.pt'",
      ),
    ],
    [
      'checkpoint_error',
      'code',
      traceback("KeyError: 'optimizer'", ['/job/train.py', 'load_checkpoint']),
    ],
  ],
  environments: [
    ['env_build', 'missing_module', traceback("ModuleNotFoundError: No module named 'flash_attn'")],
    [
      'env_build',
      'import',
      traceback(
        "ImportError: cannot import name 'AdamW' from 'transformers' (/venv/lib/python3.11/site-packages/transformers/__init__.py)",
      ),
    ],
    [
      'env_build',
      'native_library',
      traceback(
        'OSError: libcudart.so.12: cannot open shared object file: No such file or directory',
      ),
    ],
    [
      'env_build',
      'native_library',
      "/lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by x.so)",
    ],
    [
      'env_build',
      'install',
      'ERROR: Could not find a version that satisfies the requirement torch==9.9\nERROR: No matching distribution found for torch==9.9',
    ],
    [
      'image_pull',
      null,
      'Error response from daemon: manifest for registry.internal/train:9 not found: manifest unknown',
    ],
    [
      'image_pull',
      null,
      'Warning  Failed  kubelet  Failed to pull image "x": toomanyrequests: You have reached your pull rate limit. ErrImagePull',
    ],
  ],
  settings: [
    [
      'config_error',
      'arguments',
      'usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --learning-rate 1',
    ],
    [
      'config_error',
      'schema',
      traceback("omegaconf.errors.ConfigAttributeError: Key 'lrr' is not in struct"),
    ],
    [
      'config_error',
      'schema',
      traceback('pydantic_core._pydantic_core.ValidationError: 1 validation error for TrainConfig'),
    ],
    [
      'config_error',
      'value',
      traceback('ValueError: hidden_size must be divisible by num_heads (got 100 and 12)'),
    ],
  ],
  numbers: [
    ['loss_nonfinite', 'reported', traceback('ValueError: loss is nan at step 17')],
    [
      'loss_nonfinite',
      'reported',
      traceback(
        'FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding.',
      ),
    ],
    [
      'loss_nonfinite',
      'reported',
      traceback("RuntimeError: Function 'MulBackward0' returned nan values in its 0th output."),
    ],
    ['loss_nonfinite', 'reported', 'Non-finite loss, stopping training {loss: nan}'],
    ['loss_divergence', 'reported', traceback('RuntimeError: loss diverged: 1e9 > 100')],
  ],
  'ends told by others': [
    [
      'preempted',
      null,
      'slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-11-20T10:00:00 DUE TO PREEMPTION ***',
    ],
    [
      'timeout',
      'time_limit',
      'slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-11-20T10:00:00 DUE TO TIME LIMIT ***',
    ],
    [
      'stalled',
      'watchdog',
      'Timeout (0:00:30)!\nThread 0x00007f (most recent call first):\n  File "/job/train.py", line 3 in wait',
    ],
  ],
  exceptions: [
    ['code_exception', 'ZeroDivisionError', traceback('ZeroDivisionError: division by zero')],
    [
      'code_exception',
      'AttributeError',
      traceback("AttributeError: 'NoneType' object has no attribute 'shape'"),
    ],
    [
      'code_exception',
      'syntax',
      '  File "/job/train.py", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax',
    ],
    ['code_exception', 'native', "thread 'main' panicked at src/lib.rs:12:5:\nindex out of bounds"],
  ],
}
