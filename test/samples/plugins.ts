import { randomUUID } from 'node:crypto'
import { withoutOwner } from './missing-id.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked } from './send.ts'

/** It is switched off, so that nothing calls it. */
const silent = {
  ...{ url: 'https://plugins.example.com/forge', hooks: ['job.terminal'] },
  ...{ mode: 'fail_open', enabled: false },
}

/** Plugins belong to the installation; only administrators see them. */
export const pluginSample: Sample = {
  slice: 'plugins',
  async make({ pool, owner }) {
    const name = `of-${randomUUID()}`
    await pool.query(
      `insert into write.plugin (name, plugin_id, url, hooks, mode, timeout_ms, enabled, secret_prefix, sealed, set_at, set_by)
       values ($1, $1, $2, $3, $4, 3000, false, 'whsec_a1', '', now(), $5)`,
      [name, silent.url, silent.hooks, silent.mode, owner.username],
    )
    return { nouns: { plugins: { name } } }
  },
  missing: ({ nouns }) => ({ nouns: { plugins: { name: withoutOwner(nouns.plugins?.name) } } }),
  changes: {
    'PUT /api/admin/plugins/{name}': { body: () => silent },
    'DELETE /api/admin/plugins/{name}': { path: another },
    'POST /api/admin/plugins/{name}/test': { leavesNoEvent: 'it is in the list of calls' },
  },
}

async function another({ send, people: { admin } }: SampleServer): Promise<string> {
  const path = `/api/admin/plugins/of-${randomUUID()}`
  await asked(send, admin, { method: 'PUT', path, body: silent })
  return path
}
