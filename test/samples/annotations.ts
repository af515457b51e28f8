import { randomUUID } from 'node:crypto'
import { until } from '../servers/until.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked, type Call } from './send.ts'

type Ask = <T>(call: Call) => Promise<T>
type Claim = { item: { item: number } | null }

/** A queue of two pairs of the owner's run, one of which is answered. */
export const annotationSample: Sample = {
  slice: 'annotations',
  things: {
    annotation:
      'select queue_id, name, null, owner, project, null, false from write.annotation_queue',
  },
  async make({ ask, report, made, owner }) {
    await report('validation', {
      step: 30,
      samples: ['first', 'second'].flatMap(prompt =>
        ['good', 'better'].map(answer => ({ user: prompt, assistant: `${answer} ${prompt}` })),
      ),
    })
    const { run_id, project } = made.fields
    const queue_id = await create(ask, { run_id: String(run_id), project: String(project) })
    await answer(ask, queue_id)
    return {
      nouns: { annotations: { queue_id }, items: { item: '1' } },
      fields: { dataset: `${owner.username}/annotated` },
    }
  },
  missing: ({ fields: { dataset } }, whose) => ({
    nouns: { annotations: { queue_id: `anq_of_${whose}` }, items: { item: '1' } },
    fields: { dataset },
  }),
  hidden: ['annotations'],
  lists: { '/api/annotations': 'its people' },
  pages: () => ['/annotations/none', '/annotations/none/work'],
  tables: {
    annotation_queues: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ queue_id: `q-${no}` }),
    },
    annotation_answers: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ event_id: `e-${no}`, queue_id: `q-${no}` }),
    },
  },
  changes: {
    'POST /api/annotations': {
      body: ({ fixtures: { operator } }) => inputFor(operator.fields),
    },
    'POST /api/annotations/{queue_id}/claims': {
      leavesNoEvent: 'a claim ends without one after 15 minutes',
    },
    'POST /api/annotations/{queue_id}/answers': {
      path: async server => `${await claimed(server)}/answers`,
      body: () => ({ item: 1, answer: { choice: 'b' } }),
    },
    'POST /api/annotations/{queue_id}/skips': {
      path: async server => `${await claimed(server)}/skips`,
      body: () => ({ item: 1 }),
    },
    'POST /api/annotations/{queue_id}/undo': {
      async body(server) {
        const { path, last } = await answeredQueue(server)
        toUndo.set(server, path)
        return last
      },
      path: async server => `${toUndo.get(server) ?? (await answered(server))}/undo`,
    },
    'POST /api/annotations/{queue_id}/close': {
      path: async server => `${await another(server)}/close`,
    },
    'POST /api/annotations/{queue_id}/reopen': {
      async path(server) {
        const path = await another(server)
        await askOf(server)({ method: 'POST', path: `${path}/close` })
        return `${path}/reopen`
      },
    },
    'POST /api/annotations/{queue_id}/export': {
      path: async server => `${await answered(server)}/export`,
      body: ({ people }) => ({ dataset: `${people.operator.username}/${randomUUID()}` }),
    },
  },
}

type Of = { run_id?: unknown; project?: unknown }

const inputFor = ({ run_id, project }: Of) => ({
  ...{ name: 'which is better', project, kind: 'pairwise' },
  source: { type: 'samples', run_id, step: 30 },
})

/** The samples of the run can be read shortly after they were reported. */
const create = (ask: Ask, of: Of): Promise<string> =>
  until('the samples can be read', 30_000, async () => {
    try {
      const body = inputFor(of)
      return (await ask<{ queue_id: string }>({ method: 'POST', path: '/api/annotations', body }))
        .queue_id
    } catch (error) {
      if (String(error).includes('annotation.no_items')) return false
      throw error
    }
  })

async function answer(ask: Ask, queue_id: string) {
  const path = `/api/annotations/${queue_id}`
  const { item } = await ask<Claim>({ method: 'POST', path: `${path}/claims` })
  const body = { item: item?.item, answer: { choice: 'a' } }
  const { decided_at } = await ask<{ decided_at: string }>({
    ...{ method: 'POST', path: `${path}/answers`, body },
  })
  return { item: item?.item, decided_at }
}

const askOf =
  ({ send, people }: SampleServer): Ask =>
  call =>
    asked(send, people.operator, call)

const another = async (server: SampleServer): Promise<string> =>
  `/api/annotations/${await create(askOf(server), server.fixtures.operator.fields)}`

async function claimed(server: SampleServer): Promise<string> {
  const path = await another(server)
  await askOf(server)({ method: 'POST', path: `${path}/claims` })
  return path
}

/** The queue that the body of an undo names. */
const toUndo = new WeakMap<SampleServer, string>()

async function answeredQueue(server: SampleServer) {
  const path = await another(server)
  const last = await answer(askOf(server), path.replace('/api/annotations/', ''))
  return { path, last }
}

const answered = async (server: SampleServer) => (await answeredQueue(server)).path
