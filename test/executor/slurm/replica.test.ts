import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { replicasOn, trainedModel, untilSaid, untilState } from '../../serving/replicas.ts'
import { onSharedCluster } from './bench.ts'

await onSharedCluster((_, cluster) =>
  test('slurm: a replica without GPUs serves on a node, and ends when it is stopped', async t => {
    t.timeout(patient(400_000), 'environments are built')
    const forge = await startForge(t, {
      SERVICE_SLURM_URL: cluster.url,
      SERVICE_SLURM_JWT_KEY_FILE: cluster.keyFile,
      SERVICE_SLURM_DIR: await mkdtemp(join(cluster.folder, 'shared-')),
    })
    await forge.call('PUT', '/api/admin/profiles/processors', {
      body: { series: 'none', gpus_per_node: 0, executor: 'slurm', price_per_gpu_hour: '0' },
    })
    const artifact_id = await trainedModel(forge)
    const { submit } = await replicasOn(t, forge)
    const { run_id, base_url } = await submit({
      ...{ template: 'tiny-lm', artifact_id, profile: 'processors' },
      // The gateway is on another machine than the nodes.
      host: '0.0.0.0',
    })
    await untilState(forge, run_id, 'running')
    const answer = await fetch(`${base_url}/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'default', prompt: 'Shall I', max_tokens: 5 }),
    })
    const { usage } = (await answer.json()) as { usage: { completion_tokens: number } }
    t.is(usage.completion_tokens, 5)
    await forge.call('POST', `/api/jobs/${run_id}/stop`)
    await untilState(forge, run_id, 'stopped')
    await untilSaid(forge, run_id, /the engine ended with exit code 0/)
  }),
)
