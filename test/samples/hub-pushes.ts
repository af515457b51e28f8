import { tokenOfSamples } from './assemble.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'
import { bearer, type Call } from './send.ts'

type Target = { url: string; upload_id: string; path: string }

/** The owner's push of an export to the hub. */
export const hubPushSample: Sample = {
  slice: 'hub-pushes',
  things: {
    hub_push: 'select push_id, repo, null, owner, null, null, false from write.hub_push',
  },
  async make({ ask, send, made, owner }) {
    const { run_id } = made.nouns.runs ?? {}
    const report = async <T>(call: Call): Promise<T> => {
      const { status, text } = await send({ headers: bearer(made.tokens.ingest), ...call })
      if (status !== 200) throw new Error(`${call.path}: ${status} ${text}`)
      return JSON.parse(text)
    }
    const content = { exported: `by ${owner.username}` }
    const size_bytes = Buffer.byteLength(JSON.stringify(content))
    const facts = { run_id, kind: 'hf_export', format: 'json' }
    const told = new URLSearchParams({
      ...{ run_id: String(run_id), kind: facts.kind, format: facts.format },
      ...{ filename: 'config.json', size_bytes: String(size_bytes), step: '3' },
      content_type: 'application/json',
    })
    const { url, upload_id, path } = await report<Target>({
      method: 'GET',
      path: `/api/ingest/artifact/upload-url?${told}`,
    })
    const { pathname, search } = new URL(url)
    await report({ method: 'PUT', path: `${pathname}${search}`, body: content })
    const { artifact_id } = await report<{ artifact_id: string }>({
      method: 'POST',
      path: '/api/ingest/artifact',
      body: { ...facts, path, upload_id, step: 3 },
    })
    await ask({ method: 'PUT', path: '/api/secrets/HF_TOKEN', body: { value: tokenOfSamples } })
    const { push_id } = await ask<{ push_id: string }>({
      method: 'POST',
      path: '/api/hub-pushes',
      body: { artifact_id, repo: `acme/of-${owner.username}` },
    })
    return { nouns: { 'hub-pushes': { push_id } }, fields: { export_id: artifact_id } }
  },
  missing: ({ nouns }) => ({
    nouns: { 'hub-pushes': { push_id: withoutOwner(nouns['hub-pushes']?.push_id) } },
  }),
  hidden: ['hub-pushes'],
  lists: { '/api/hub-pushes': 'its people' },
  tables: {
    hub_pushes: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ push_id: `hpsh_${no}` }),
    },
  },
  changes: {
    'POST /api/hub-pushes': {
      body: ({ fixtures }) => ({
        artifact_id: fixtures.operator.fields.export_id,
        repo: 'acme/another',
      }),
    },
    'DELETE /api/hub-pushes/{push_id}': {
      async path({ send, fixtures, credentials }) {
        const { text } = await send({
          ...{ method: 'POST', path: '/api/hub-pushes', headers: credentials.operator },
          body: { artifact_id: fixtures.operator.fields.export_id, repo: 'acme/stopped' },
        })
        return `/api/hub-pushes/${JSON.parse(text).push_id}`
      },
    },
  },
}
