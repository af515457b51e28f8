// The names of categories, without the schemas: the command line and the console need these alone.

/** Possible causes of a failed run. Clients must tolerate categories that they do not know. */
export const failureCategories = [
  'gpu_oom',
  'host_oom',
  'nccl_timeout',
  'node_failure',
  'gpu_error',
  'loss_nonfinite',
  'loss_divergence',
  'stalled',
  'data_error',
  'checkpoint_error',
  'disk_full',
  'image_pull',
  'env_build',
  'hub_access',
  'storage_access',
  'code_exception',
  'config_error',
  'preempted',
  'timeout',
  'killed',
  'unknown',
] as const
