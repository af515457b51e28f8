import type { Api } from '../../api/client.ts'

/** A plugin that is switched off, because nothing listens at its address. */
export async function sendPlugins(root: Api): Promise<void> {
  await root.put('/api/admin/plugins/night-shift', {
    url: 'https://plugins.example.com/forge',
    hooks: ['admission.mutate', 'job.terminal'],
    mode: 'fail_open',
    enabled: false,
  })
}
