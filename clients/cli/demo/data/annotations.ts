import type { AnnotationClaim } from '../../../../schemas/annotations.ts'
import type { Api } from '../../api/client.ts'
import { type Chance, chanceOf } from './chance.ts'

const path = '/api/annotations'
const name = 'How helpful are the answers?'

/** A queue of Ada's over a run of hers; Grace and Lin have answered some of its items, and mostly agree. */
export async function sendAnnotations(
  { ada, others }: { ada: Api; others: readonly Api[] },
  of: { project: string; run_id: string },
): Promise<void> {
  const queues = await ada.get<{ name: string }[]>(path, { project: of.project, limit: 500 })
  if (queues.some(queue => queue.name === name)) return
  await ada.put('/api/rubrics/ada/helpful', rubric)
  const { queue_id } = await ada.post<{ queue_id: string }>(
    path,
    {
      ...{
        name,
        project: of.project,
        kind: 'rubric',
        rubric: 'ada/helpful@1',
        overlap: 2,
        limit: 20,
      },
      source: { type: 'samples', run_id: of.run_id },
      instructions,
    },
    { creates: true },
  )
  const chance = chanceOf(22)
  for (const api of others) for (let nth = 0; nth < 8; nth++) await answer(api, queue_id, chance)
}

async function answer(api: Api, queue_id: string, chance: Chance): Promise<void> {
  const { item } = await api.post<AnnotationClaim>(`${path}/${queue_id}/claims`, {})
  if (item === null) return
  // The same item gets about the same scores from everybody.
  const usual = Number.parseInt(item.digest.slice(-2), 16) % 4
  const near = () => Math.min(4, usual + (chance.next() < 0.3 ? 1 : 0))
  await api.post(`${path}/${queue_id}/answers`, {
    item: item.item,
    answer: { scores: { correct: near(), clear: near() } },
  })
}

const rubric = {
  name: 'helpful',
  description: 'Whether an answer helps the person who asked.',
  criteria: [
    { name: 'correct', weight: 2, description: 'What it says is true, and answers the question.' },
    { name: 'clear', weight: 1, description: 'A beginner understands it.' },
  ],
  ...{ scale_min: 0, scale_max: 4, visibility: 'public' },
}

const instructions = `Score what the answer **says**, not how long it is.

- 0 is useless or wrong, 4 could not be better.
- Skip an item if you cannot judge it.`
