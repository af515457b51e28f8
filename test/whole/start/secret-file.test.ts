import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { readProtection, UnreadableFile } from '../../../platform/log/kafka-security.ts'
import { readSettingFile } from '../../../server/settings/secret-file.ts'

test('an empty file is refused with the setting that names it and its path', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-secret-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'secret')
  const setting = 'SERVICE_SLURM_TOKEN_FILE'
  await t.throwsAsync(readSettingFile(setting, file), {
    message: /^SERVICE_SLURM_TOKEN_FILE=.*secret cannot be read: ENOENT/,
  })
  await writeFile(file, '\n')
  await t.throwsAsync(readSettingFile(setting, file), { message: `${setting}=${file} is empty` })
  const sasl = { mechanism: 'PLAIN', username: 'forge', password: { file } } as const
  await t.throwsAsync(readProtection({ tls: null, sasl, isPlaintextAllowed: false }), {
    ...{ instanceOf: UnreadableFile, message: `${file} is empty` },
  })
  await writeFile(file, ' text\n')
  t.is(await readSettingFile(setting, file), 'text')
})
