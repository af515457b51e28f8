import type { Sample, SampleServer } from './sample.ts'
import { asked, type Call } from './send.ts'

type Ask = <T>(call: Call) => Promise<T>

/** A model with a version from the artifact, and an alias that names it. */
export const modelSample: Sample = {
  slice: 'models',
  things: {
    model: 'select name, name, null, owner, project, null, deleted_at is not null from write.model',
  },
  uses: [`select 'artifact', artifact_id, 'model', model, version::text from write.model_version`],
  async make({ ask, owner, made }) {
    const model = `model-of-${owner.username}`
    await create(ask, model, String(made.fields.project))
    await addVersion(ask, model, made.nouns.artifacts?.artifact_id)
    await ask({
      method: 'PUT',
      path: `/api/models/${model}/aliases/stable`,
      body: { version: 1, reason: 'the first' },
    })
    return {
      nouns: { models: { model }, versions: { version: '1' }, aliases: { alias: 'stable' } },
    }
  },
  missing: (_, whose) => ({
    nouns: {
      models: { model: `no-model-of-${whose}` },
      versions: { version: '1' },
      aliases: { alias: 'stable' },
    },
  }),
  hidden: ['models'],
  pages: () => ['/models/none'],
  lists: { '/api/models': 'its people' },
  tables: {
    models: { seenBy: 'members', isFilled: true, cells: ({ no }) => ({ model: `m-${no}` }) },
    model_versions: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ model: `m-${no}` }),
    },
    model_aliases: { seenBy: 'members', isFilled: true, cells: ({ no }) => ({ model: `m-${no}` }) },
    model_alias_moves: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ model: `m-${no}` }),
    },
  },
  changes: {
    'POST /api/models': {
      body: ({ fixtures }) => ({ name: `sample-${++made}`, project: projectOf({ fixtures }) }),
    },
    'PATCH /api/models/{model}': { body: () => ({ description: 'of the sample' }) },
    'POST /api/models/{model}/versions': {
      path: async server => `/api/models/${await another(server)}/versions`,
      body: ({ fixtures }) => ({ artifact_id: fixtures.operator.nouns.artifacts?.artifact_id }),
    },
    'PATCH /api/models/{model}/versions/{version}': { body: () => ({ stage_notes: 'checked' }) },
    'PUT /api/models/{model}/aliases/{alias}': {
      path: async server => `/api/models/${await withVersion(server)}/aliases/stable`,
      body: () => ({ version: 1 }),
    },
    'DELETE /api/models/{model}/aliases/{alias}': {
      async path(server) {
        const path = `/api/models/${await withVersion(server)}/aliases/stable`
        await askOf(server)({ method: 'PUT', path, body: { version: 1 } })
        return path
      },
    },
    'DELETE /api/models/{model}': {
      path: async server => `/api/models/${await another(server)}`,
    },
  },
}

let made = 0
const projectOf = ({ fixtures }: Pick<SampleServer, 'fixtures'>) =>
  String(fixtures.operator.fields.project)

const askOf =
  ({ send, people }: SampleServer): Ask =>
  call =>
    asked(send, people.operator, call)

const create = (ask: Ask, name: string, project: string) =>
  ask({ method: 'POST', path: '/api/models', body: { name, project } })

const addVersion = (ask: Ask, model: string, artifact_id: unknown) =>
  ask({ method: 'POST', path: `/api/models/${model}/versions`, body: { artifact_id } })

async function another(server: SampleServer): Promise<string> {
  const name = `sample-${++made}`
  await create(askOf(server), name, projectOf(server))
  return name
}

async function withVersion(server: SampleServer): Promise<string> {
  const name = await another(server)
  await addVersion(askOf(server), name, server.fixtures.operator.nouns.artifacts?.artifact_id)
  return name
}
