import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Capacity } from '../port.ts'

const run = promisify(execFile)

/** The GPUs listed by `nvidia-smi`; without any, `fakeSlots` fake slots. */
export async function detectGpus(fakeSlots: number): Promise<Capacity> {
  try {
    const { stdout } = await run('nvidia-smi', ['-L'], { timeout: 10_000 })
    const found = parseGpuList(stdout)
    if (found) return found
  } catch {
    // There is no driver, or it hangs.
  }
  return { gpus: fakeSlots, series: 'local', fake: true }
}

/** Reads lines such as `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)`; the series is the model's first word with a digit. */
export function parseGpuList(text: string): Capacity | null {
  const models = [...text.matchAll(/^GPU \d+: (.+?) \(UUID/gm)].map(match => match[1] ?? '')
  const [first] = models
  if (first === undefined) return null
  const series = first.split(/[\s-]+/).find(word => /\d/.test(word)) ?? first
  return { gpus: models.length, series, fake: false }
}
