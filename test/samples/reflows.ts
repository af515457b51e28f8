import { randomUUID } from 'node:crypto'
import type { Sample, SampleServer } from './sample.ts'
import { asked, type Call } from './send.ts'

type Ask = <T>(call: Call) => Promise<T>
type Made = { reflow_id: string }

/** A reflow of the traffic of the owner's deployment, fired once. */
export const reflowSample: Sample = {
  slice: 'reflows',
  things: {
    reflow: 'select reflow_id, name, null, owner, null, null, false from write.reflow',
  },
  async make({ ask, made, owner }) {
    const deployment_id = String(made.nouns.deployments?.deployment_id)
    const target_dataset = `${owner.username}/taken`
    const { reflow_id } = await create(ask, deployment_id, target_dataset)
    await ask({ method: 'POST', path: `/api/reflows/${reflow_id}/run`, body: { window: 'first' } })
    return { nouns: { reflows: { reflow_id } }, fields: { target_dataset } }
  },
  missing: (_, whose) => ({
    nouns: { reflows: { reflow_id: `rfl_of_${whose}` } },
    fields: { target_dataset: `nobody-${whose}/taken` },
  }),
  hidden: ['reflows'],
  lists: { '/api/reflows': 'its people' },
  pages: () => ['/reflows/none'],
  tables: {
    reflows: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ reflow_id: `rfl_${no}` }),
    },
    reflow_firings: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ reflow_id: `rfl_${no}` }),
    },
  },
  changes: {
    'POST /api/reflows': {
      body: ({ fixtures: { operator }, people }) =>
        inputFor(deploymentOf(operator), `${people.operator.username}/${randomUUID()}`),
    },
    'POST /api/reflows/{reflow_id}/preview': { leavesNoEvent: 'a preview stores nothing' },
    'POST /api/reflows/{reflow_id}/run': { path: async server => `${await another(server)}/run` },
    'DELETE /api/reflows/{reflow_id}': { path: another },
    'POST /api/reflows/erase': {
      body: ({ fixtures: { operator } }) => ({
        deployment_id: deploymentOf(operator),
        user: randomUUID(),
      }),
    },
  },
}

type Fixture = SampleServer['fixtures']['operator']
const deploymentOf = ({ nouns }: Fixture) => String(nouns.deployments?.deployment_id)

const inputFor = (deployment_id: string, target_dataset: string) => ({
  ...{ name: 'what people ask', target_dataset },
  source: { type: 'traffic', deployment_id },
})

const create = (ask: Ask, deployment_id: string, target_dataset: string) =>
  ask<Made>({ method: 'POST', path: '/api/reflows', body: inputFor(deployment_id, target_dataset) })

async function another({ send, people, fixtures }: SampleServer): Promise<string> {
  const { operator } = people
  const ask: Ask = call => asked(send, operator, call)
  const target = `${operator.username}/${randomUUID()}`
  const { reflow_id } = await create(ask, deploymentOf(fixtures.operator), target)
  return `/api/reflows/${reflow_id}`
}
