import type { ReflowRow } from '../../../../schemas/reflows.ts'
import type { Api } from '../../api/client.ts'

const path = '/api/reflows'
const name = 'Answers with a high reward'

/** A reflow of Ada's over the samples of a run of hers, fired once. */
export async function sendReflows(ada: Api, run_id: string): Promise<void> {
  const reflows = await ada.get<ReflowRow[]>(path, { limit: 500 })
  if (reflows.some(reflow => reflow.name === name)) return
  const { reflow_id } = await ada.post<{ reflow_id: string }>(
    path,
    {
      ...{ name, filter: 'reward>0.5', target_dataset: 'ada/high-reward' },
      source: { type: 'samples', run_id },
    },
    { creates: true },
  )
  await ada.post(`${path}/${reflow_id}/run`, { window: 'demo' })
}
