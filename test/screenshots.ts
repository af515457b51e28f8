import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { makeEdgeRuns } from './edge-runs.ts'
import { askApi, signIn } from './servers/api.ts'
import { launchBrowser } from './servers/chromium.ts'
import { isAlive } from './servers/processes.ts'

// `npm run screenshots`: pages of the console with the data of the demonstration, light and dark, wide and narrow.

const { values: options } = parseArgs({
  options: {
    /** The folder of the pictures. */
    into: { type: 'string', default: join(import.meta.dirname, '../docs/img') },
    /** Every page, instead of those shown in the documentation. */
    all: { type: 'boolean', default: false },
  },
})

/** Where runs appear in the address of a page: `run` has samples, `other` a failure. */
const shown = {
  home: '/',
  runs: '/runs',
  metrics: '/runs/{run}/metrics',
  workspace: '/projects/vision',
  compare: '/compare?runs={three}',
  queue: '/queue',
  samples: '/runs/{run}/samples',
}
const others = {
  run: '/runs/{run}',
  failed: '/runs/{failed}',
  logs: '/runs/{run}/logs',
  hardware: '/runs/{run}/hardware',
  artifacts: '/runs/{run}/artifacts',
  environment: '/runs/{run}/environment',
  events: '/runs/{job}/events',
  job: '/runs/{job}',
  differences: '/compare?runs={three}&part=differences',
  groups: '/projects/vision?group=hparams.optimizer&band=std',
  grouped: '/runs?group=project',
  submit: '/submit',
  rubrics: '/rubrics',
  'hub-imports': '/hub-imports',
  benchmarks: '/benchmarks',
  notifications: '/notifications',
  models: '/models',
  deployments: '/deployments',
  playground: '/playground',
  usage: '/usage',
  failures: '/diagnoses',
  settings: '/settings',
  device: '/device',
  model: '/models/bard',
  'model-of-hub': '/models/sums-lora',
  annotations: '/annotations',
  datasets: '/datasets',
  volumes: '/volumes',
  dataset: '/datasets/ada/sums',
  environments: '/environments',
  'environment-ready': '/environments/ada/sums?version=0.1.0',
  'environment-failed': '/environments/ada/sums?version=0.2.0',
  'dataset-invalid': '/datasets/ada/sums?version=1',
  deployment: '/deployments/{deployment}',
  unknown: '/runs/nothing-1',
  'edges-workspace': '/projects/edges',
  'edges-many': '/runs/edges-1',
  'edges-many-metrics': '/runs/edges-1/metrics',
  'edges-point': '/runs/edges-2/metrics',
  'edges-name': '/runs/edges-3',
  'edges-chinese': '/runs/edges-4',
  'edges-nothing': '/runs/edges-5',
  'edges-differences': '/compare?runs=edges-1,edges-3,edges-4&part=differences',
  ...Object.fromEntries(
    ['people', 'quotas', 'projects', 'recipes', 'profiles', 'registries', 'maintenance'].map(
      section => [`admin-${section}`, `/admin/${section}`],
    ),
  ),
  ...Object.fromEntries(
    ['projections', 'duties', 'retention', 'engines', 'audit'].map(section => [
      `admin-${section}`,
      `/admin/${section}`,
    ]),
  ),
}

/** These in Chinese, too. */
const translated = Object.fromEntries(
  Object.entries({ ...shown, ...others })
    .filter(([name]) => !name.startsWith('edges-') && !name.startsWith('admin-'))
    .map(([name, address]) => [`zh-${name}`, address]),
)

const narrow = { width: 390, height: 844 }
const sizes = options.all
  ? { wide: { width: 1440, height: 900 }, medium: { width: 1024, height: 768 }, narrow }
  : { wide: { width: 1280, height: 800 }, narrow }

/** Whether everything requested has arrived. */
const isStill = () =>
  document.querySelector('main h1') !== null &&
  (!location.pathname.startsWith('/projects/') || document.querySelector('canvas') !== null) &&
  [...document.querySelectorAll('figure')].every(
    figure =>
      figure.getBoundingClientRect().top > innerHeight ||
      // A chart; or a panel of another kind, with its content.
      figure.querySelector('canvas, :scope > :not(figcaption) > *') !== null,
  ) &&
  document.querySelector('[aria-busy=true]') === null &&
  ![...document.querySelectorAll('[role=status]')].some(one =>
    /^(Loading|加载中) ?…$/.test(one.textContent ?? ''),
  )

const data = await mkdtemp(join(tmpdir(), 'forge-screenshots-'))
const script = join(import.meta.dirname, '../clients/cli/demo/data.ts')
const filling = spawn(process.execPath, [script, '--once', '--data', data], { stdio: 'inherit' })
const [code] = await once(filling, 'exit')
const { url, pid } = JSON.parse(await readFile(join(data, 'server.json'), 'utf8')) as {
  url: string
  pid: number
}
const browsers: Browser[] = []
try {
  if (code !== 0) throw new Error(`the data could not be sent: ${code}`)
  await mkdir(options.into, { recursive: true })
  const password = (await readFile(join(data, 'admin-password'), 'utf8')).trim()
  const token = await signIn(url, 'admin', password)
  // A person with content: the administrator has no run.
  await askApi(url, 'PATCH', '/api/admin/users/ada', { token, body: { password } })
  const ada = await signIn(url, 'ada', password)
  if (options.all) await makeEdgeRuns(url, ada)
  const [deployment] = await askApi<{ deployment_id: string }[]>(url, 'GET', '/api/deployments', {
    token: ada,
  })
  const pages = {
    ada: await pageOf('ada', password),
    admin: await pageOf('admin', password),
    zh: await pageOf('ada', password, 'zh-CN'),
  }
  const whose = (name: string) =>
    name.startsWith('admin-') ? 'admin' : name.startsWith('zh-') ? 'zh' : 'ada'
  const failed: string[] = []
  for (const [name, address] of Object.entries(
    options.all ? { ...shown, ...others, ...translated } : shown,
  ))
    await keep(
      pages[whose(name)],
      name,
      address.replace('{deployment}', deployment?.deployment_id ?? ''),
    ).catch(error => {
      // The other pages are still worth a look.
      failed.push(`${name}: ${error instanceof Error ? error.message : error}`)
      process.stderr.write(`${failed.at(-1)}\n`)
    })
  if (failed.length > 0) throw new Error(`Without a picture: ${failed.join('; ')}`)
} finally {
  for (const browser of browsers) await browser.close()
  process.kill(pid, 'SIGTERM')
  while (isAlive(pid)) await new Promise(resolve => setTimeout(resolve, 100))
  // Programs of the demonstration may still write.
  await rm(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 })
}

async function pageOf(username: string, password: string, locale = 'en-US'): Promise<Page> {
  const browser = await launchBrowser()
  browsers.push(browser)
  const page = await browser.newPage({ locale })
  // Leaves the same cookie as the form.
  await page.request.post(`${url}/api/auth/login`, { data: { username, password } })
  return page
}

async function keep(page: Page, name: string, address: string): Promise<void> {
  await page.goto(
    url +
      address
        .replace('{run}', 'rlhf-1')
        .replace('{failed}', 'language-15')
        .replace('{job}', 'vision-16')
        .replace('{three}', 'vision-1,vision-2,vision-3'),
  )
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForFunction(isStill, null, { timeout: 60_000 })
      await page.screenshot({ path: join(options.into, `${name}-${colorScheme}-${size}.png`) })
    }
  }
}
