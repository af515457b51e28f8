import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { storing } from '../../../artifacts/storing.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { createRun } from '../../../servers/runs.ts'

test('artifacts lists what a run produced, and get fetches, resumes and verifies it', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const run = await createRun(forge)
  const bytes = randomBytes(300_000)
  const { artifact_id } = await storing(forge, run).store(bytes, 'model.pt', 7)
  const elsewhere = await storing(forge, run).register({ path: 's3://bucket/key', step: 3 })
  const cli = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })

  const listed = await cli.run(['artifacts', run.short_id])
  t.is(listed.code, 0, listed.stderr)
  t.regex(listed.stdout, new RegExp(`${artifact_id} +checkpoint +7 +300 kB +verified +latest`))
  t.regex(listed.stdout, /registered .*s3:\/\/bucket\/key/)
  const json = await cli.run(['artifacts', run.short_id, '--json'])
  const rows = json.stdout.trimEnd().split('\n')
  t.deepEqual(
    rows.map(row => JSON.parse(row).artifact_id),
    [artifact_id, elsewhere.body.artifact_id],
  )

  const get = (...args: string[]) => cli.run(['artifacts', 'get', run.short_id, ...args])
  const folder = join(cli.home, 'models')
  await mkdir(folder)
  const file = join(folder, 'model.pt')
  const fetched = await get('latest', '-o', folder, '--verify', '--json')
  t.is(fetched.code, 0, fetched.stderr)
  t.like(JSON.parse(fetched.stdout), { artifact_id, file, size_bytes: 300_000, verified: true })
  t.true((await readFile(file)).equals(bytes))
  t.deepEqual(await readdir(folder), ['model.pt'], 'nothing is left of its way')

  const again = await get(artifact_id, '-o', file)
  t.is(again.code, 2)
  t.regex(again.stderr, /already exists/)
  t.is((await get(artifact_id, '-o', file, '--resume', '--verify')).code, 0, 'it is already here')

  const second = join(folder, 'second.pt')
  await writeFile(`${second}.part`, bytes.subarray(0, 100_000))
  const resumed = await get(artifact_id, '-o', second, '--resume', '--verify', '--json')
  t.like(JSON.parse(resumed.stdout), { resumed_from: 100_000 }, resumed.stderr)
  t.true((await readFile(second)).equals(bytes))

  const third = join(folder, 'third.pt')
  await writeFile(`${third}.part`, Buffer.alloc(100_000))
  const other = await get(artifact_id, '-o', third, '--resume', '--verify')
  t.is(other.code, 3)
  t.regex(other.stderr, /has the SHA-256 .*fetch it again/s)
  t.deepEqual((await readdir(folder)).sort(), ['model.pt', 'second.pt'], 'other bytes are removed')
  await writeFile(`${third}.part`, Buffer.alloc(100_000))
  t.is((await get(artifact_id, '-o', third)).code, 0, 'without --resume from the start')
  t.true((await readFile(third)).equals(bytes))

  const outside = await get(elsewhere.body.artifact_id, '-o', join(folder, 'fourth'))
  t.is(outside.code, 5)
  t.regex(outside.stderr, /it is at s3:\/\/bucket\/key/)
  const unknown = await get('art_none')
  t.is(unknown.code, 3)
  t.regex(unknown.stderr, new RegExp(`has no artifact art_none.*${artifact_id} checkpoint`, 's'))
})
