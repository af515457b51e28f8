import test from 'ava'
import type { Page } from 'playwright-core'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { type ExternalRun, ingest } from '../servers/runs.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { until } from '../servers/until.ts'
import { openSignedIn } from './browse.ts'

const widths = [1440, 1024, 390] as const
const long = `${'an-uninterrupted-name-of-many-letters'.repeat(4)}`.slice(0, 128)
const wide = `${'训练语言模型的第三次尝试🚀λ'.repeat(10)}`.slice(0, 127)

const everywhere = [
  ...['/', '/runs', '/projects', '/queue', '/submit', '/models', '/deployments', '/playground'],
  ...['/usage', '/diagnoses', '/notifications', '/rubrics', '/datasets', '/hub-imports'],
  ...['/annotations', '/environments', '/volumes', '/settings'],
  ...['/admin/people', '/admin/quotas', '/admin/engines', '/admin/audit', '/admin/projections'],
]

/** A run of 63 metrics with the longest names, its twin, and a run of one point. */
async function fill(forge: Forge): Promise<string[]> {
  const create = async (name: string) =>
    (
      await forge.call<ExternalRun>('POST', '/api/runs', {
        body: { project: 'names', name, tags: [long.slice(0, 64), '标签🚀'] },
      })
    ).body
  const [big, other, lone] = [await create(long), await create(wide), await create('one point')]
  for (const [nth, run] of [big, other].entries()) {
    await ingest(forge, run, 'lifecycle', { event: 'running' })
    const keys = Array.from({ length: 61 }, (_, n) => `layer/${n}/gradient norm`)
    const points = ['train/loss', `eval/${wide.slice(0, 60)}`, ...keys].flatMap(key =>
      [1, 50, 117_600].map(step => ({ key, step, value: (step % 7) * 10 ** (nth * 9) })),
    )
    await ingest(forge, run, 'metrics', { points })
    const params = { [long]: long, 学习率: 1e-5 * (nth + 1), text: wide }
    await ingest(forge, run, 'hparams', { params })
    await ingest(forge, run, 'logs', { chunks: [long.repeat(4), wide, 'ERROR x'] })
    const samples = [{ user: long, assistant: wide, reward: 0.5, extra: { reference: long } }]
    await ingest(forge, run, 'validation', { step: 1, samples, avg_reward: 0.5 })
    for (const step of [1, 117_600])
      await ingest(forge, run, 'artifact', {
        ...{ kind: 'checkpoint', path: `s3://bucket/${long}/${step}.safetensors`, step },
        ...{ format: 'safetensors', size_bytes: 14e9, metrics: { [wide.slice(0, 60)]: 0.123456 } },
      })
    await forge.call('PATCH', `/api/runs/${run.run_id}`, {
      body: { notes: `# ${long}\n\n${wide}` },
    })
  }
  await ingest(forge, big, 'lifecycle', { event: 'failed', exit_code: 1, message: long.repeat(3) })
  await ingest(forge, lone, 'metrics', { points: [{ key: 'train/loss', step: 0, value: 1 }] })
  await forge.call('POST', '/api/models', { body: { name: 'a'.repeat(63), project: 'names' } })
  await forge.call('POST', '/api/deployments', {
    body: { name: wide, project: 'names', source: { kind: 'external', url: 'http://127.0.0.1:9' } },
  })
  const tabs = ['', '/metrics', '/logs', '/samples', '/artifacts', '/events', '/environment']
  const [first, second, third] = [big.short_id, other.short_id, lone.short_id]
  const { body } = await forge.call<{ deployment_id: string }[]>('GET', '/api/deployments')
  return [
    ...tabs.map(tab => `/runs/${first}${tab}`),
    ...['', '/hardware'].map(tab => `/runs/${third}${tab}`),
    ...['/projects/names', '/projects/names?group=hparams.text'],
    ...[`/compare?runs=${first},${second}`, `/compare?runs=${first},${second}&part=differences`],
    ...[`/models/${'a'.repeat(63)}`, `/deployments/${body[0]?.deployment_id}`],
  ]
}

/** Text that is cut off without a sign of it, and whatever reaches beyond the window. */
const ugly = () => {
  const isScrolled = (one: Element | null): boolean =>
    one !== null &&
    (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(one).overflowX) ||
      isScrolled(one.parentElement))
  const found: string[] = []
  for (const one of document.querySelectorAll('main *, header *')) {
    const { right, width, height } = one.getBoundingClientRect()
    const style = getComputedStyle(one)
    if (width <= 1 || height <= 1 || style.visibility === 'hidden') continue
    const hasText = [...one.childNodes].some(
      node => node.nodeType === 3 && node.textContent?.trim(),
    )
    const name = `${one.tagName} ${one.className} ${one.textContent?.slice(0, 40)}`
    const isCut =
      ['hidden', 'clip'].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1
    if (hasText && isCut && style.textOverflow !== 'ellipsis') found.push(`cut off: ${name}`)
    if (right > innerWidth + 1 && !isScrolled(one.parentElement)) found.push(`beyond: ${name}`)
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways')
  return found.slice(0, 5)
}

const titles = {
  empty: 'no page of an empty installation is wider than its window or cuts text off',
  full: 'no page of runs with the longest names is wider than its window or cuts text off',
}

for (const state of ['empty', 'full'] as const)
  test.serial(titles[state], async t => {
    t.timeout(patient(400_000))
    const forge = await startForge(t)
    const addresses = state === 'empty' ? everywhere : [...(await fill(forge)), ...everywhere]
    const { page, faults } = await openSignedIn(t, forge)
    const found: string[] = []
    for (const address of addresses) {
      await page.goto(`${forge.url}${address}`)
      await page.locator('main h1, main h2').first().waitFor()
      await page.waitForFunction(() => !document.body.textContent?.includes('Loading …'))
      const name = `width-${state}-${address.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 40)}`
      for (const fault of await look(page, name)) found.push(`${address} ${fault}`)
    }
    t.deepEqual(found, [])
    t.deepEqual(faults, [])
  })

async function look(page: Page, name: string): Promise<string[]> {
  const found: string[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
    // Charts follow the width a frame later.
    let faults: string[] = []
    const isFine = async () => {
      faults = await page.evaluate(ugly)
      return faults.length === 0
    }
    await until('the page fits', 10_000, isFine).catch(() => {})
    for (const fault of faults) found.push(`at ${width}: ${fault}`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await keepScreenshot(page, `${name}-${width}-${colorScheme}`)
    }
  }
  return found
}
