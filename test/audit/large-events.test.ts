import test from 'ava'
import type { Reply } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'

/** This many reports of nearly 1 MB exceed one page, 16 MiB. */
const reports = 20

test('a page of very large events ends early, and the next begins where it ended', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  for (let version = 1; version <= reports; version++)
    await ingest(forge, run, 'hparams', {
      params: Object.fromEntries(
        Array.from({ length: 150 }, (_, nth) => [`prompt${nth}`, `${version}`.padEnd(6000, 'x')]),
      ),
    })
  for (const path of [`/api/runs/${run.run_id}/events`, '/api/audit?type=hparams.set']) {
    let counted = 0
    const pages: number[][] = []
    let next: string | undefined = `${path}${path.includes('?') ? '&' : '?'}limit=500`
    while (next !== undefined) {
      const page: Reply<{ position: number }[]> = await forge.call('GET', next)
      const { body, headers } = page
      counted = Number(headers.get('x-total-count'))
      pages.push(body.map(({ position }) => position))
      next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
      t.true(next?.includes('limit=500') ?? true, 'the pages after it are as long as was asked')
    }
    t.true(pages.length > 1 && pages.every(page => page.length > 0), path)
    t.true(counted >= reports && counted < 500, path)
    t.is(new Set(pages.flat()).size, counted, path)
    t.is(pages.flat().length, counted, path)
  }
})
