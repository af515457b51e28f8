import { relative } from 'node:path'
import test from 'ava'
import { root, sources } from './sources.ts'

/**
 * Code that makes a test depend on the speed of the machine. `subject` selects the files that a rule governs: a rule without
 * any has lost its subject.
 */
type Rule = {
  title: string
  subject: RegExp
  faults: readonly RegExp[]
  broken: readonly string[]
  sound: readonly string[]
  /** Exempt files, and why. */
  excused: Readonly<Record<string, string>>
}

const rules: readonly Rule[] = [
  {
    title: 'deadlines of until are made patient once, by until',
    subject: /\buntil(?:Settled)?(?:<[^(]*>)?\(/,
    faults: [
      /\buntil(?:Settled)?(?:<[^(]*>)?\(\s*(?:'[^'\n]*'|`[^`]*`|[\w.]+),\s*patient\(/,
      // Through a constant.
      /\bconst (\w+) = patient\([\s\S]*\buntil(?:Settled)?(?:<[^(]*>)?\(\s*(?:'[^'\n]*'|`[^`]*`|[\w.]+),\s*\1\b/,
    ],
    broken: [
      "await until('it ends', patient(20_000), () => isOver)",
      'await untilSettled(\n  `all ends`,\n  patient(1),\n  work,\n)',
      "const longMs = patient(5)\nawait until('it ends', longMs, look)",
    ],
    sound: [
      "t.timeout(patient(60_000))\nawait until('it ends', 20_000, look)",
      "const longMs = patient(5)\nawait until('it ends', 20_000, () => look(longMs))",
    ],
    excused: {},
  },
  {
    title: 'no test bounds how long something takes by the wall clock',
    subject: /\b(?:performance|Date)\.now\(\)/,
    faults: [
      /\b(?:performance|Date)\.now\(\) - [\w.]+(?:\(\))? <=?[^<]/,
      /\bconst (\w+) = (?:Math\.\w+\()?(?:performance|Date)\.now\(\) - \w[\s\S]*\b\1 <=?[^<=]/,
      /\b(?:\w*(?:took|lasted|elapsed)\w*|\w+Ms - \w+Ms|ms) <=? /,
      /<=? (?:[\d_]+ \+ )?patient\(/,
    ],
    broken: [
      't.true(performance.now() - began < 5_000)',
      'const spent = Math.round(performance.now() - began)\nt.log(spent)\nt.true(spent < 5_000)',
      't.true(tookMs <= 8_000)',
      't.true(lastMs - beganMs < 1_000)',
      't.true(worst(lateBy) < patient(2_000))',
    ],
    sound: [
      't.true(performance.now() - began > 20)',
      'const since = performance.now()\nfor (let n = 0; n < 5; n++) work()',
      'const spent = performance.now() - began\nt.true(spent >= 850)',
    ],
    excused: {
      'test/sessions/revocation.test.ts':
        'of requests by when they began: what a process remembers grows no older, however busy it is',
      'test/clients/cli/login/renewal.test.ts':
        'between two times from a server, a day if it is wrong',
      'test/console/events-journey.test.ts': 'the page polls only after ten seconds',
    },
  },
  {
    title: 'tests wait for conditions and do not sleep',
    subject: /\bsetTimeout\b/,
    faults: [
      /\bfrom 'node:timers\/promises'/,
      /\bsetTimeout\(\s*(?:resolve|done|\(\) => (?:resolve|done)\()/,
    ],
    broken: [
      "import { setTimeout as sleep } from 'node:timers/promises'",
      'await new Promise(resolve => setTimeout(resolve, 500))',
    ],
    sound: ['setTimeout(() => giveUp.abort(), 500)', 'await new Promise(setImmediate)'],
    excused: {
      'test/servers/until.ts': 'it waits for a condition',
      'test/screenshots.ts': 'no test: it makes pictures for the documents',
      'test/gateway/load.ts': 'a caller that was refused asks no more than fifty times a second',
      'test/jobs/starter-process.ts': 'works until it is killed',
      'test/platform/log/appending-process.ts': 'appends until it is killed',
      'test/whole/backup/under-load.test.ts': 'the load has a rate',
      'test/executor/crash.test.ts': 'the moments of its kills are spread over a submit',
      'test/clients/cli/login/in-turn.test.ts':
        'the process whose turn it is works for a while, so that others wait',
    },
  },
  {
    title: 'only servers of tests reserve ports; everything else listens on port 0',
    subject: /\blisten\(\s*0\b|\bfreePort\b/,
    faults: [/\bfreePort\(/],
    broken: ['const port = await freePort()'],
    sound: ["server.listen(0, '127.0.0.1')"],
    excused: {
      'test/platform/free-port.test.ts': 'its own test',
      'test/gateway/exchange.test.ts': 'nothing may listen there',
      'test/clients/cli/api/unreachable.test.ts': 'nothing may listen there',
      'test/serving/replicas.ts': 'the server chooses an engine’s port',
      'test/serving/serve-engine.test.ts': 'the engine gets its port',
      'test/executor/impostor-scene.ts': 'the engine gets its port',
      'test/recipes/gang.test.ts': 'rank 0 gets its port',
      'test/hub-imports/olah.test.ts': 'olah gets its port',
      'test/clients/python/artifacts.test.ts':
        'the server must know the address of the proxy, and the proxy that of the server',
      'test/platform/log/kafka-silent.test.ts':
        'the broker must know the address of the link, and the link that of the broker',
    },
  },
]

const isOfTests = (file: string) =>
  file.startsWith('test/') && file !== relative(root, import.meta.filename)
const mayReserve = (file: string) => file.startsWith('test/servers/')

for (const { title, subject, faults, broken, sound, excused } of rules) {
  const isFaulty = (code: string) => faults.some(fault => fault.test(code))

  test(title, t => {
    const governed = sources.filter(({ file, code }) => isOfTests(file) && subject.test(code))
    t.true(governed.length > 5, `${governed.length} files`)
    const exempt = title.includes('ports') ? mayReserve : () => false
    const faulty = sources.filter(
      ({ file, code }) => isOfTests(file) && !exempt(file) && isFaulty(code),
    )
    t.deepEqual(
      faulty.map(({ file }) => file).filter(file => !(file in excused)),
      [],
    )
    const needed = new Set(faulty.map(({ file }) => file))
    t.deepEqual(
      Object.keys(excused).filter(file => !needed.has(file)),
      [],
      'these need no excuse any more',
    )
  })

  test(`a fault is noticed: ${title}`, t => {
    for (const code of broken) t.true(isFaulty(code), code)
    for (const code of sound) t.false(isFaulty(code), code)
  })
}
