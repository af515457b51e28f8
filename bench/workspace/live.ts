import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import { ApiError, askApi } from '../../test/servers/api.ts'
import type { Target } from '../chart.ts'
import { createRuns } from '../rig/api.ts'
import { noisyLoss } from '../rig/fill-run.ts'
import type { Opened } from './page.ts'

const project = 'live'
const runs = 20
const keys = Array.from({ length: 20 }, (_, nth) => `train/metric-${nth}`)

/** On a busy machine the log may fail to respond once; the heap of the page is measured all the same. */
function unlessUnavailable(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 503) throw error
}

export type HeapAt = { minute: number; megabytes: number; nodes: number; steps: number }

/** At these minutes a snapshot shows what the heap holds. */
const snapshotMinutes = [5, 15, 30]

type Watch = {
  minutes: number
  /** A folder for snapshots of the heap; empty: none are taken. */
  snapshots: string
  say: (text: string) => void
}

/**
 * Watches a workspace whose twenty runs report twenty metrics a second each: the heap of its page after garbage
 * collection, and its DOM nodes, minute by minute.
 */
export async function watchHeap(
  { page, ofPage }: Opened,
  target: Target,
  { minutes, snapshots, say }: Watch,
): Promise<HeapAt[]> {
  const live = await createRuns(target.url, target.token, project, runs)
  let step = 0
  const report = () => {
    step++
    return Promise.all(
      live.map(run =>
        askApi(target.url, 'POST', '/api/ingest/metrics', {
          token: run.token,
          body: {
            run_id: run.run_id,
            points: keys.map(key => ({ key, step, value: noisyLoss(step) })),
          },
        }).catch(unlessUnavailable),
      ),
    )
  }
  await report()
  await page.goto(`${target.url}/projects/${project}?runs=1-${runs}`)
  await page.locator('figure canvas').first().waitFor()
  const found: HeapAt[] = []
  for (let minute = 1; minute <= minutes; minute++) {
    for (const end = Date.now() + 60_000; Date.now() < end; ) {
      const next = Date.now() + 1_000
      await report()
      await delay(Math.max(0, next - Date.now()))
    }
    await ofPage.send('HeapProfiler.collectGarbage')
    const { usedSize } = await ofPage.send('Runtime.getHeapUsage')
    const { nodes } = await ofPage.send('Memory.getDOMCounters')
    const one = { minute, megabytes: usedSize / 1e6, nodes, steps: step }
    say(`minute ${minute}, ${step} steps: ${one.megabytes.toFixed(2)} MB, ${nodes} nodes`)
    found.push(one)
    if (snapshots !== '' && snapshotMinutes.includes(minute))
      await saveSnapshot(ofPage, join(snapshots, `${minute}.heapsnapshot`))
  }
  return found
}

async function saveSnapshot(ofPage: CDPSession, path: string): Promise<void> {
  const parts: string[] = []
  const keep = ({ chunk }: { chunk: string }) => void parts.push(chunk)
  ofPage.on('HeapProfiler.addHeapSnapshotChunk', keep)
  await ofPage.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  ofPage.off('HeapProfiler.addHeapSnapshotChunk', keep)
  await writeFile(path, parts)
}
