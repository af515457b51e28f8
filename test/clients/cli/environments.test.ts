import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { stringify } from 'yaml'
import { emptyFolder } from '../../datasets/python.ts'
import { deployed } from '../../gateway/deployed.ts'
import { manifest, program } from '../../rl-environments/publishing.ts'
import { commandLine } from '../../servers/command-line.ts'
import { serveEngine } from '../../servers/engine.ts'
import { sharedForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'

const shared = sharedForge()

async function scene(t: ExecutionContext) {
  const forge = await shared()
  const place = join(await emptyFolder(t), 'sums')
  await mkdir(place)
  await writeFile(join(place, 'environment.yaml'), stringify(manifest))
  await writeFile(join(place, 'sums.py'), program)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  return { forge, place, run }
}

test('env test runs rollouts here, push publishes them, and ls, show, log and rm follow', async t => {
  t.timeout(patient(300_000))
  const { forge, place, run } = await scene(t)
  const url = await serveEngine(t, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ index: 0, message: { role: 'assistant', content: 'It is 5.' } }]
      response.end(JSON.stringify({ data: [{ id: 'default' }], choices }))
    })
  })
  const { deployment_id } = await deployed(forge, 'for-the-command-line', [url])
  const loaded = await run(['env', 'test', place])
  t.is(loaded.code, 0, loaded.stderr)
  t.is(loaded.stdout, 'sums:rollout was loaded\n')
  const asked = ['env', 'test', place, '--deployment', deployment_id]
  const tried = await run([...asked, '-n', '2', '--json'])
  t.is(tried.code, 0, tried.stderr)
  t.like(JSON.parse(tried.stdout), { rollouts: [{ reward: 1 }, { reward: 1 }] })
  t.regex(tried.stderr, /the model said 'It is 5\.'/)
  const wrong = await run([...asked, '-n', '1', '--args', '{"b": 4}'])
  t.regex(wrong.stdout, /0\.000/)
  t.is((await run([...asked, '--args', '{"c": 4}'])).code, 2)

  const pushed = await run(['env', 'push', place, '--deployment', deployment_id])
  t.is(pushed.code, 0, pushed.stderr)
  t.regex(pushed.stdout, /^admin\/sums@0\.1\.0\n/)
  t.regex(pushed.stdout, /1\.000/)
  t.regex((await run(['env', 'ls'])).stdout, /admin\/sums@0\.1\.0 +ready +1\.000/)
  t.regex((await run(['env', 'show', 'sums'])).stdout, /admin\/sums {2}private/)
  const shown = await run(['env', 'show', 'admin/sums@0.1.0'])
  t.regex(shown.stdout, /baseline +1\.000 \(1 to 1\)/)
  t.regex((await run(['env', 'log', 'admin/sums@0.1.0'])).stdout, /the model said/)

  await writeFile(join(place, 'sums.py'), 'import nothing_like_this\n')
  t.is((await run(['env', 'test', place])).code, 1)
  const taken = await run(['env', 'push', place])
  t.is(taken.code, 5, taken.stderr)
  await writeFile(join(place, 'environment.yaml'), stringify({ ...manifest, version: '0.2.0' }))
  const failed = await run(['env', 'push', place])
  t.is(failed.code, 1)
  t.regex(failed.stderr, /cannot be loaded: ModuleNotFoundError/)
  await writeFile(join(place, 'environment.yaml'), stringify({ ...manifest, version: 'x' }))
  t.is((await run(['env', 'push', place])).code, 3)

  t.is((await run(['env', 'rm', 'admin/sums@0.2.0', '--dry-run'])).code, 0)
  const removed = await run(['env', 'rm', 'admin/sums@0.2.0', '--yes'])
  t.is(removed.stdout, 'admin/sums@0.2.0 was deleted\n')
  t.is((await run(['env', 'show', 'admin/sums@0.2.0'])).code, 3)
})
