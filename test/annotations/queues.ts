import type { AnnotationClaim, AnnotationInput } from '../../schemas/annotations.ts'
import type { Forge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Calls = Pick<Forge, 'call'>
export type Refused = { detail: string | { loc: (string | number)[] }[]; code: string }
type Answered = { changed: boolean; decided_at: string } & Refused
type Created = { queue_id: string; items: number; left_out: number } & Refused

/** A run with a round of samples at step 10, two samples of each prompt, the first with the higher reward. */
export async function runWithPairs(
  forge: Calls,
  { project, prompts }: { project: string; prompts: number },
): Promise<ExternalRun> {
  const run = await createRun(forge, project)
  const samples = Array.from({ length: prompts }, (_, nth) =>
    [0.9, 0.2].map(reward => ({
      ...{ user: `Question ${nth}?`, reward },
      assistant: `${reward > 0.5 ? 'Good' : 'Bad'} answer ${nth}.`,
    })),
  ).flat()
  await ingest(forge, run, 'validation', { step: 10, samples })
  await until('the samples can be read', 30_000, async () => {
    const { status } = await forge.call('GET', `/api/runs/${run.run_id}/validation/10`)
    return status === 200
  })
  return run
}

export const createQueue = (forge: Calls, body: Partial<AnnotationInput>, token?: string) =>
  forge.call<Created>('POST', '/api/annotations', {
    body: { name: 'a queue', ...body },
    ...(token !== undefined && { token }),
  })

export const claim = (forge: Calls, queue_id: string, token: string) =>
  forge.call<AnnotationClaim & Refused>('POST', `/api/annotations/${queue_id}/claims`, { token })

export const answer = (
  forge: Calls,
  queue_id: string,
  { token, ...body }: { token: string; item: number | undefined; answer: object },
) =>
  forge.call<Answered>('POST', `/api/annotations/${queue_id}/answers`, {
    ...{ token, body },
  })
