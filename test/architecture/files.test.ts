import { relative } from 'node:path'
import test from 'ava'
import { otherSources, root, sources } from './sources.ts'

test('no file is longer than 400 lines', t => {
  t.true(sources.length > 50)
  for (const language of ['py', 'html', 'css'])
    t.true(
      otherSources.some(({ file }) => file.endsWith(`.${language}`)),
      language,
    )
  t.deepEqual(
    [...sources, ...otherSources]
      .filter(({ lines }) => lines > 400)
      .map(({ file, lines }) => `${file}: ${lines}`),
    [],
  )
})

test('nothing is typed any and no check is switched off', t => {
  const switchedOff = /@ts-(ignore|expect-error|nocheck)|biome-ignore/
  const isAny = /\bas an[y]\b|: an[y]\b|<an[y]>/
  const self = relative(root, import.meta.filename)
  t.deepEqual(
    sources
      .filter(
        ({ file, text, code }) => file !== self && (switchedOff.test(text) || isAny.test(code)),
      )
      .map(({ file }) => file),
    [],
  )
})

test('no file is called util, helper, manager, service or common', t => {
  const vague = /(^|[/-])(utils?|helpers?|manager|services?|common|misc)(\.|-|$)/
  t.deepEqual(
    sources.filter(({ file }) => vague.test(file)).map(({ file }) => file),
    [],
  )
})

test('tests look only at the locks and sessions of their own database', t => {
  const [self, home] = [relative(root, import.meta.filename), 'test/servers/lock-waits.ts']
  const looking = sources.filter(
    ({ file, code }) => file.startsWith('test/') && /pg_locks|pg_stat_activity/.test(code),
  )
  t.true(looking.some(({ file }) => file === home))
  const ofAll = (code: string) =>
    code.includes('pg_locks') ||
    code.split('pg_stat_activity').length > code.split('datname = current_database()').length
  t.deepEqual(
    looking
      .filter(({ file, code }) => file !== self && file !== home && ofAll(code))
      .map(({ file }) => file),
    [],
  )
})

test('time limits of tests are patient', t => {
  const limits = /\bt\.timeout\(\s*([\w$]*)/g
  const isPatient = (code: string, limit: string) =>
    limit === 'patient' || new RegExp(`\\bconst ${limit} =[^\\n]*\\bpatient\\(`).test(code)
  const impatient = (code: string) =>
    [...code.matchAll(limits)].flatMap(([, limit = '']) => (isPatient(code, limit) ? [] : limit))
  t.deepEqual(impatient('t.timeout(60_000)'), ['60_000'])
  t.deepEqual(impatient('const longMs = 60_000\nt.timeout(longMs)'), ['longMs'])
  t.deepEqual(impatient('const longMs = patient(60_000)\nt.timeout(longMs)'), [])
  t.deepEqual(impatient('t.timeout(patient(60_000))'), [])
  const self = relative(root, import.meta.filename)
  const tests = sources.filter(({ file }) => file.startsWith('test/') && file !== self)
  t.true(tests.filter(({ code }) => code.match(limits) !== null).length > 50)
  t.deepEqual(
    tests.flatMap(({ file, code }) => impatient(code).map(limit => `${file}: ${limit}`)),
    [],
  )
})

test('tests reserve a port with freePort, and do not close a server for the number it had', t => {
  // Another process may be given that number before it is used. A test that only stops its server does not need the notification.
  const listensAnywhere = /\blisten\(\s*0\b/
  const isToldOfClose = /\.close\(\s*[^\s)]/
  const listening = sources.filter(
    ({ file, code }) => file.startsWith('test/') && listensAnywhere.test(code),
  )
  t.true(listening.length > 5)
  t.deepEqual(
    listening.filter(({ code }) => isToldOfClose.test(code)).map(({ file }) => file),
    [],
  )
})

test('the parts of a server take the time from its clock', t => {
  // The files that choose the clock, and separate programs.
  const choosing = ['server/assemble.ts', 'server/backup/program.ts', 'server/reset-password.ts']
  const looksItself = /\bsystemClock\b|\bnew Date\(\)|\bDate\.now\b/
  const looking = sources.filter(
    ({ file, code }) => file.startsWith('server/') && looksItself.test(code),
  )
  t.deepEqual(looking.map(({ file }) => file).sort(), choosing)
})
