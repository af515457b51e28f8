import type { FailureCategory } from '../../schemas/diagnoses.ts'
import { traceback } from './given.ts'

/** Log lines of a failure. */
export type Told = [category: FailureCategory, subcategory: string | null, log: string]

/** Texts of programs, libraries and engines, by family. */
export const machineFailures: Record<string, readonly Told[]> = {
  'memory of GPUs': [
    [
      'gpu_oom',
      'activation',
      traceback(
        'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.23 GiB is free. Including non-PyTorch memory, this process has 77.87 GiB memory in use. Of the allocated memory 70.11 GiB is allocated by PyTorch, and 6.20 GiB is reserved by PyTorch but unallocated.',
        ['/job/train.py', 'step'],
        ['/usr/lib/python3.11/site-packages/torch/nn/modules/module.py', 'forward'],
      ),
    ],
    [
      'gpu_oom',
      'weights',
      traceback(
        'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 1; 23.69 GiB total capacity; 22.61 GiB already allocated)',
        ['/job/train.py', 'build'],
        ['/venv/lib/python3.11/site-packages/transformers/modeling_utils.py', 'from_pretrained'],
      ),
    ],
    [
      'gpu_oom',
      'optimizer',
      traceback(
        'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.',
        ['/job/train.py', 'train'],
        ['/venv/lib/python3.11/site-packages/torch/optim/adamw.py', '_init_group'],
      ),
    ],
    ['gpu_oom', null, traceback('RuntimeError: CUDA error: out of memory')],
    [
      'gpu_oom',
      'workspace',
      traceback(
        'RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`',
      ),
    ],
    [
      'gpu_oom',
      null,
      traceback(
        'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 34359738368 bytes.',
      ),
    ],
    [
      'gpu_oom',
      'kv_cache',
      traceback(
        'ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.',
      ),
    ],
  ],
  'main memory': [
    ['host_oom', null, traceback('MemoryError')],
    [
      'host_oom',
      null,
      traceback(
        'numpy._core._exceptions._ArrayMemoryError: Unable to allocate 93.1 GiB for an array with shape (100000, 125000) and data type float64',
      ),
    ],
    [
      'host_oom',
      null,
      traceback(
        "RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 40000000000 bytes. Error code 12 (Cannot allocate memory)",
      ),
    ],
    [
      'host_oom',
      null,
      "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
    ],
    [
      'host_oom',
      'data_loader',
      traceback('RuntimeError: DataLoader worker (pid 4121) is killed by signal: Killed. '),
    ],
    [
      'host_oom',
      'data_loader',
      traceback('RuntimeError: DataLoader worker (pid(s) 4121, 4122) exited unexpectedly'),
    ],
    [
      'host_oom',
      'shm',
      'ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n' +
        traceback(
          "RuntimeError: DataLoader worker (pid 71) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
        ),
    ],
    [
      'host_oom',
      'oom_killer',
      'slurmstepd: error: Detected 1 oom_kill event in StepId=4242.0. Some of the step tasks have been OOM Killed.',
    ],
    [
      'host_oom',
      'oom_killer',
      '[812345.123456] Memory cgroup out of memory: Killed process 31337 (python) total-vm:98765432kB, anon-rss:65432100kB',
    ],
  ],
  'ranks that wait for each other': [
    [
      'nccl_timeout',
      'collective',
      '[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1234, OpType=ALLREDUCE, NumelIn=25600, NumelOut=25600, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.',
    ],
    [
      'nccl_timeout',
      'connection',
      traceback(
        'torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error, NCCL version 2.21.5\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.',
      ),
    ],
    [
      'nccl_timeout',
      'connection',
      'n3:4711:4799 [3] socket.c:540 NCCL WARN Net : Connection closed by remote peer n2.cluster<40122> failed',
    ],
    [
      'nccl_timeout',
      'rendezvous',
      traceback(
        'torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 7/8 clients joined.',
      ),
    ],
    [
      'nccl_timeout',
      'connection',
      traceback(
        'RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.4]:31421',
      ),
    ],
  ],
  'GPUs and machines': [
    ['gpu_error', 'xid', 'NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.'],
    [
      'gpu_error',
      'ecc',
      traceback('RuntimeError: CUDA error: uncorrectable ECC error encountered'),
    ],
    [
      'gpu_error',
      'lost',
      'Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU',
    ],
    [
      'gpu_error',
      'launch_failure',
      traceback('RuntimeError: CUDA error: unspecified launch failure'),
    ],
    ['gpu_error', 'driver', traceback('RuntimeError: No CUDA GPUs are available')],
    [
      'code_exception',
      'cuda_kernel',
      traceback('RuntimeError: CUDA error: device-side assert triggered'),
    ],
    [
      'node_failure',
      'scheduler',
      'slurmstepd: error: *** STEP 991.0 ON n7 CANCELLED AT 2026-11-20T10:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***',
    ],
  ],
  disks: [
    [
      'disk_full',
      'space',
      traceback("OSError: [Errno 28] No space left on device: '/job/out/model-100.npz'"),
    ],
    ['disk_full', 'quota', traceback('OSError: [Errno 122] Disk quota exceeded')],
    ['disk_full', 'file_size', traceback('OSError: [Errno 27] File too large')],
    [
      'disk_full',
      'space',
      traceback(
        'RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 1234560 vs 1234448',
      ),
    ],
    [
      'storage_access',
      'file_system',
      traceback("OSError: [Errno 116] Stale file handle: '/mnt/nfs/data'"),
    ],
    [
      'storage_access',
      'permission',
      traceback("PermissionError: [Errno 13] Permission denied: '/data/out'"),
    ],
    [
      'storage_access',
      'permission',
      traceback("OSError: [Errno 30] Read-only file system: '/usr/x'"),
    ],
    [
      'storage_access',
      'auth',
      traceback(
        'botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject operation: Access Denied',
      ),
    ],
    [
      'storage_access',
      'auth',
      traceback('botocore.exceptions.NoCredentialsError: Unable to locate credentials'),
    ],
    [
      'storage_access',
      'object_store',
      traceback(
        'botocore.errorfactory.NoSuchBucket: An error occurred (NoSuchBucket) when calling the ListObjects operation: The specified bucket does not exist',
      ),
    ],
  ],
}
