import { tabs } from '../../clients/console/src/pages/run/tabs.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked } from './send.ts'

/** The smallest comparison. */
const twice = (run_id: string) => `${run_id},${run_id}`

/** An external run, in its owner's project that is created with it. */
export const runSample: Sample = {
  slice: 'runs',
  things: {
    run: `select run_id, short_id, null, owner, project, null, deleted_at is not null from write.run_state`,
  },
  async make({ ask, owner }) {
    const project = `project-of-${owner.username}`
    const { run_id, token: ended } = await ask<{ run_id: string; token: string }>({
      method: 'POST',
      path: '/api/runs',
      body: { project },
    })
    const { token: ingest } = await ask<{ token: string }>({
      method: 'POST',
      path: `/api/runs/${run_id}/token`,
    })
    return {
      nouns: { runs: { run_id, tab: 'part-of-a-run' } },
      fields: { run_id, project, ids: twice(run_id) },
      tokens: { ingest, ended },
    }
  },
  missing({ fields }) {
    const run_id = withoutOwner(fields.run_id)
    return {
      nouns: { runs: { run_id, tab: 'part-of-a-run' } },
      fields: { run_id, ids: twice(run_id) },
    }
  },
  hidden: ['runs'],
  pages: ([{ short_id }]) => [
    ...tabs.map(({ name }) => `/runs/${short_id}/${name}`),
    ...[`/runs/${short_id}`, '/runs/none-1', '/runs?group=project'],
  ],
  lists: {
    '/api/runs': 'its people',
    '/api/runs/by-project': 'its people',
    '/api/runs/names': 'its people',
  },
  moreLists: ['/api/runs?sort=metric:loss:last'],
  tables: {
    runs: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ project }) => ({ short_id: `${project}-1` }),
    },
    readable_runs: { seenBy: 'members' },
    run_ends: { seenBy: 'members', isOfRun: true },
  },
  changes: {
    'POST /api/ingest/description': {
      body: ({ fixtures }) => ({
        run_id: fixtures.operator.fields.run_id,
        add_tags: ['described'],
      }),
    },
    'PATCH /api/runs/{run_id}': { body: () => ({ notes: 'noted' }) },
    // For a separate run, because the sample's run has been reported as ended by then.
    'POST /api/runs/{run_id}/token': {
      comesLast: true,
      async path({ send, people: { operator }, fixtures }) {
        const { project } = fixtures.operator.fields
        const call = { method: 'POST', path: '/api/runs', body: { project } }
        return `/api/runs/${(await asked<{ run_id: string }>(send, operator, call)).run_id}/token`
      },
    },
    'POST /api/runs/{run_id}/stop': {
      comesLast: true,
      async path({ send, people: { operator }, fixtures }) {
        const { project } = fixtures.operator.fields
        const call = { method: 'POST', path: '/api/runs', body: { project } }
        return `/api/runs/${(await asked<{ run_id: string }>(send, operator, call)).run_id}/stop`
      },
    },
    'DELETE /api/runs/{run_id}': { path: async server => `/api/runs/${await endedRun(server)}` },
    'POST /api/runs/{run_id}/restore': {
      async path(server) {
        const run_id = await endedRun(server)
        const { operator } = server.people
        await asked(server.send, operator, { method: 'DELETE', path: `/api/runs/${run_id}` })
        return `/api/runs/${run_id}/restore`
      },
    },
  },
}

async function endedRun({ send, people: { operator }, fixtures }: SampleServer): Promise<string> {
  const { project } = fixtures.operator.fields
  const call = { method: 'POST', path: '/api/runs', body: { project } }
  const { run_id } = await asked<{ run_id: string }>(send, operator, call)
  const body = { force: true }
  await asked(send, operator, { method: 'POST', path: `/api/runs/${run_id}/stop`, body })
  return run_id
}
