import type { PlanCreated, PlanRow } from '../../../../schemas/plans.ts'
import type { Api } from '../../api/client.ts'
import { specOfRecipe } from '../../jobs/spec/job-spec.ts'
import { lockOf } from '../../recipes/catalogue.ts'

const path = '/api/plans'
const name = 'Learning rate of digits, then longer'

/** A plan of Ada's that waits to be submitted: a sweep, and a job from its best run. */
export async function sendPlan(ada: Api, project: string): Promise<void> {
  const plans = await ada.get<PlanRow[]>(path, { project })
  if (plans.some(plan => plan.name === name)) return
  const lock = await lockOf(ada, 'digits')
  const specOf = (job: string, epochs: number) => {
    const { spec, ...rest } = specOfRecipe({ lock, project, name: job })
    return {
      ...rest,
      spec: { ...(spec as object), params: { epochs }, limits: { max_duration_s: 3600 } },
    }
  }
  const stages = [
    {
      name: 'search',
      spec: specOf('digits, a search', 50),
      sweep: {
        ...{ method: 'random', params: { lr: { min: 1e-4, max: 1, scale: 'log' } }, count: 12 },
        ...{ seed: 7, max_parallel: 2, metric: { key: 'val/accuracy', goal: 'max' } },
      },
    },
    { name: 'longer', spec: specOf('digits, longer', 500), init_from_stage: 'search' },
  ]
  await ada.post<PlanCreated>(path, { name, stages }, { creates: true })
}
