/** When plugins are called. */
export const pluginHooks = [
  'admission.mutate',
  'admission.validate',
  'job.terminal',
  'artifact.registered',
  'deployment.promote',
  'diagnosis.analyze',
] as const
export type PluginHook = (typeof pluginHooks)[number]

/** What happens if a plugin gives no usable answer: as if it had agreed, or as if it had refused. */
export const pluginModes = ['fail_open', 'fail_closed'] as const
