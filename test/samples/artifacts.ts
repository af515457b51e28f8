import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'
import { bearer, type Call } from './send.ts'

type Target = { url: string; upload_id: string; path: string }

export const artifactSample: Sample = {
  slice: 'artifacts',
  things: {
    artifact: `select a.artifact_id, null, a.run_id, r.owner, r.project, null, a.deleted_at is not null
               from write.artifact a join write.run_state r using (run_id)`,
  },
  uses: [
    `select 'upload', upload_id, 'artifact', artifact_id, 'content' from write.artifact where upload_id is not null`,
  ],
  async make({ send, made }) {
    const { run_id } = made.nouns.runs ?? {}
    const asked = async <T>(call: Call): Promise<T> => {
      const { status, text } = await send({ headers: bearer(made.tokens.ingest), ...call })
      if (status !== 200) throw new Error(`${call.path}: ${status} ${text}`)
      return JSON.parse(text)
    }
    const content = { said: 'by a test' }
    const size_bytes = Buffer.byteLength(JSON.stringify(content))
    const told = `kind=checkpoint&format=json&filename=a.json&content_type=application/json`
    const { url, upload_id, path } = await asked<Target>({
      method: 'GET',
      path: `/api/ingest/artifact/upload-url?run_id=${run_id}&size_bytes=${size_bytes}&${told}`,
    })
    const { pathname, search } = new URL(url)
    await asked({ method: 'PUT', path: `${pathname}${search}`, body: content })
    const { artifact_id } = await asked<{ artifact_id: string }>({
      method: 'POST',
      path: '/api/ingest/artifact',
      body: { run_id, kind: 'checkpoint', path, upload_id, format: 'json', step: 1 },
    })
    return { nouns: { artifacts: { artifact_id }, downloads: { artifact_id } } }
  },
  missing({ nouns }) {
    const artifact_id = withoutOwner(nouns.artifacts?.artifact_id)
    return { nouns: { artifacts: { artifact_id }, downloads: { artifact_id } } }
  },
  changes: {
    // The sample's own artifact is a version of a model by then.
    'DELETE /api/artifacts/{artifact_id}': {
      async path({ send, credentials, fixtures }) {
        const { run_id } = fixtures.operator.fields
        const { text } = await send({
          method: 'POST',
          path: '/api/ingest/artifact',
          headers: credentials['ingest token'],
          body: { run_id, kind: 'checkpoint', path: '/data/more.json', format: 'json', step: 2 },
        })
        // A run that has ended cannot register more.
        const { artifact_id = fixtures.operator.nouns.artifacts?.artifact_id } = JSON.parse(text)
        return `/api/artifacts/${artifact_id}`
      },
    },
    'POST /api/admin/retention': {
      leavesNoEvent: 'by default it is a dry run; each deletion is an event of its artifact',
    },
  },
  hidden: ['artifacts'],
  tables: {
    artifacts: {
      seenBy: 'members',
      isOfRun: true,
      isFilled: true,
      cells: ({ no }) => ({ artifact_id: `art_${no}` }),
    },
  },
}
