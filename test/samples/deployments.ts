import { engineForSamples } from '../servers/engine.ts'
import { until } from '../servers/until.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked, type Call } from './send.ts'

type Made = { deployment_id: string; revision_id: string }
type Ask = <T>(call: Call) => Promise<T>

/** A deployment of an engine that runs elsewhere, with a token. */
export const deploymentSample: Sample = {
  slice: 'deployments',
  things: {
    deployment: `select deployment_id, name, null, owner, project, null, state in ('deleting', 'deleted')
                 from write.deployment_state`,
  },
  uses: [
    `select 'artifact', source ->> 'artifact_id', 'deployment', deployment_id, revision_id
    from write.revision_state where source ->> 'artifact_id' is not null`,
  ],
  async make({ ask, made, owner }) {
    const name = `deployment-of-${owner.username}`
    const { deployment_id, revision_id } = await create(ask, String(made.fields.project), name)
    const { token_id } = await ask<{ token_id: string }>({
      method: 'POST',
      path: `/api/deployments/${deployment_id}/tokens`,
      body: { name: 'of the sample' },
    })
    await oneReady(ask, deployment_id)
    const { session_id } = await ask<{ session_id: string }>({
      method: 'POST',
      path: '/api/playground',
      body: { source: { revision_id } },
    })
    return {
      nouns: {
        deployments: { deployment_id },
        revisions: { revision_id },
        tokens: { token_id },
        playground: { session_id },
      },
      fields: { judge: deployment_id },
    }
  },
  missing: ({ nouns }) => ({
    nouns: {
      deployments: { deployment_id: withoutOwner(nouns.deployments?.deployment_id) },
      revisions: { revision_id: withoutOwner(nouns.revisions?.revision_id) },
      tokens: { token_id: withoutOwner(nouns.tokens?.token_id) },
      playground: { session_id: withoutOwner(nouns.playground?.session_id) },
    },
    fields: { judge: withoutOwner(nouns.deployments?.deployment_id) },
  }),
  hidden: ['deployments'],
  pages: () => ['/deployments/none'],
  lists: { '/api/deployments': 'its people', '/api/playground': 'the caller' },
  tables: {
    deployments: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ deployment_id: `dep_${no}`, state: 'ready' }),
    },
    deployment_revisions: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ deployment_id: `dep_${no}`, revision_id: `rev_${no}` }),
    },
    deployment_promotions: {
      seenBy: 'members',
      cells: ({ no }) => ({ deployment_id: `dep_${no}`, revision_id: `rev_${no}` }),
    },
    deployment_tokens: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ deployment_id: `dep_${no}`, token_id: `dtk_${no}` }),
    },
    traffic: {
      seenBy: 'members',
      cells: ({ no }) => ({
        deployment_id: `dep_${no}`,
        request_id: `req_${no}`,
        day: '1970-01-01',
      }),
    },
    traffic_daily: {
      seenBy: 'members',
      cells: ({ no }) => ({ deployment_id: `dep_${no}`, day: '1970-01-01' }),
    },
    traffic_deployments: { seenBy: 'members', cells: ({ no }) => ({ run_id: `dep_${no}` }) },
  },
  // Each on its own deployment: most of them end something that another needs.
  changes: {
    'POST /api/deployments': {
      async body({ fixtures }) {
        return { ...(await wanted()), project: fixtures.operator.fields.project }
      },
    },
    'POST /api/playground': {
      body: ({ fixtures }) => ({
        source: { revision_id: fixtures.operator.nouns.revisions?.revision_id },
      }),
    },
    'PATCH /api/deployments/{deployment_id}': { body: () => ({ name: 'renamed' }) },
    'POST /api/deployments/{deployment_id}/revisions': {
      body: async () => ({ source: await source() }),
    },
    'POST /api/deployments/{deployment_id}/tokens': { body: () => ({ name: 'another' }) },
    ...onItsOwn('POST /api/deployments/{deployment_id}/suspend', async (_, id) => `${id}/suspend`),
    ...onItsOwn('POST /api/deployments/{deployment_id}/resume', async (ask, id) => {
      await ask({ method: 'POST', path: `/api/deployments/${id}/suspend` })
      return `${id}/resume`
    }),
    ...onItsOwn('DELETE /api/deployments/{deployment_id}', async (_, id) => id),
    ...onItsOwn(
      'DELETE /api/deployments/{deployment_id}/revisions/{revision_id}',
      async (ask, id) => {
        const [second] = await twoReady(ask, id)
        return `${id}/revisions/${second}`
      },
    ),
    ...onItsOwn(
      'POST /api/deployments/{deployment_id}/revisions/{revision_id}/promote',
      async (ask, id) => {
        const [second] = await twoReady(ask, id)
        return `${id}/revisions/${second}/promote`
      },
    ),
    ...onItsOwn('POST /api/deployments/{deployment_id}/rollback', async (ask, id) => {
      const [second] = await twoReady(ask, id)
      await ask({ method: 'POST', path: `/api/deployments/${id}/revisions/${second}/promote` })
      return `${id}/rollback`
    }),
  },
}

/** The change on a deployment created for it. */
function onItsOwn(name: string, pathOf: (ask: Ask, deployment_id: string) => Promise<string>) {
  return {
    [name]: {
      async path({ send, people: { operator }, fixtures }: SampleServer) {
        const ask: Ask = call => asked(send, operator, call)
        const { deployment_id } = await create(ask, String(fixtures.operator.fields.project))
        return `/api/deployments/${await pathOf(ask, deployment_id)}`
      },
    },
  }
}

const source = async () => ({ kind: 'external', url: await engineForSamples() })
let made = 0
const wanted = async (name = `sample-${++made}`) => ({ name, source: await source() })

const create = async (ask: Ask, project: string, name?: string): Promise<Made> =>
  ask({ method: 'POST', path: '/api/deployments', body: { ...(await wanted(name)), project } })

const oneReady = (ask: Ask, deployment_id: string) =>
  until('the revision is ready', 30_000, async () => {
    const rows = await revisionsOf(ask, deployment_id)
    return rows.some(({ state }) => state === 'ready')
  })

type Revision = { revision_id: string; state: string }

/** None while a busy server has not projected the deployment yet. */
const revisionsOf = (ask: Ask, deployment_id: string): Promise<Revision[]> =>
  ask<Revision[]>({ method: 'GET', path: `/api/deployments/${deployment_id}/revisions` }).catch(
    error => {
      if (error instanceof Error && error.message.includes(' returned 404 ')) return []
      throw error
    },
  )

/** Waits for the first revision, and for a second one, whose id it returns first. */
async function twoReady(ask: Ask, deployment_id: string): Promise<[string, string]> {
  const path = `/api/deployments/${deployment_id}/revisions`
  await ask({ method: 'POST', path, body: { source: await source() } })
  return until('both revisions are ready', 30_000, async () => {
    const rows = await revisionsOf(ask, deployment_id)
    const [second, first] = rows.filter(({ state }) => state === 'ready')
    return second && first && [second.revision_id, first.revision_id]
  })
}
