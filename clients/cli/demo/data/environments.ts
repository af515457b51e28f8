import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Api } from '../../api/client.ts'
import { uploadArchive } from '../../api/upload.ts'
import type { Deployment } from '../../deployments/find.ts'
import { projectFiles } from '../../jobs/package/files.ts'
import { pack } from '../../jobs/package/pack.ts'
import { pause } from '../../program/pause.ts'

const path = '/api/environments/ada/sums'
const folder = join(import.meta.dirname, '../../../../recipes/environments/sums')
const lookMs = 500

/** An RL environment of Ada's: the first version is tried with a deployment, if there is one, and the second cannot be loaded. */
export async function sendEnvironment(ada: Api, signal: AbortSignal): Promise<void> {
  if ((await ada.find(path)) !== null) return
  const deployments = await ada.get<Deployment[]>('/api/deployments')
  const deployment = deployments.find(({ state }) => state === 'ready')?.deployment_id ?? null
  await push(ada, folder, deployment)
  const copy = await mkdtemp(join(tmpdir(), 'forge-demo-'))
  try {
    await cp(folder, copy, { recursive: true })
    const manifest = join(copy, 'environment.yaml')
    const text = await readFile(manifest, 'utf8')
    await writeFile(manifest, text.replace('version: 0.1.0', 'version: 0.2.0'))
    await writeFile(join(copy, 'sums.py'), 'import numpy\n')
    await push(ada, copy, null)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
  await ada.patch(path, { visibility: 'public' })
  while (!signal.aborted) {
    const versions = await ada.get<{ state: string }[]>(`${path}/versions`)
    if (versions.every(({ state }) => state !== 'building')) return
    await pause(lookMs, signal)
  }
}

async function push(api: Api, from: string, deployment: string | null): Promise<void> {
  const packed = await pack(await projectFiles(from))
  try {
    const upload_id = await uploadArchive(api, packed, {
      purpose: 'environment',
      onProgress: () => {},
    })
    await api.post('/api/environments', { upload_id, deployment }, { creates: true })
  } finally {
    await packed.remove()
  }
}
