import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
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

/** Devices that all GPUs share: the driver's control, memory, and the links between GPUs and nodes. */
const sharedDevices =
  /^(nvidiactl|nvidia-uvm(-tools)?|nvidia-modeset|nvidia-caps.*|nvidia-nvswitch.*|gdrdrv|infiniband)$/

/** Where the system has the devices, and what the driver says about them. */
const places = { dev: '/dev', driver: '/proc/driver/nvidia/gpus' }

/** The device files for these GPUs, in the order of `nvidia-smi`, which is their order on the bus. */
export async function deviceFiles(
  indexes: readonly number[],
  { dev, driver } = places,
): Promise<string[]> {
  await makeMemoryDevice(dev)
  const shared = (await readdir(dev)).filter(name => sharedDevices.test(name))
  const minors = await minorNumbers(driver)
  const held = indexes.map(index => `nvidia${minors[index] ?? index}`)
  return [...held, ...shared.sort()].map(name => path.join(dev, name))
}

/** The driver makes it at the first use of CUDA, by a program with rights that runs do not have. */
async function makeMemoryDevice(dev: string): Promise<void> {
  if ((await readdir(dev)).includes('nvidia-uvm')) return
  await run('nvidia-modprobe', ['-u', '-c', '0'], { timeout: 10_000 }).catch(() => {})
}

async function minorNumbers(driver: string): Promise<string[]> {
  const gpus = await readdir(driver).catch(() => [])
  const texts = await Promise.all(
    gpus.sort().map(gpu => readFile(path.join(driver, gpu, 'information'), 'utf8')),
  )
  return texts.map(text => /^Device Minor:\s*(\d+)/m.exec(text)?.[1] ?? '')
}
