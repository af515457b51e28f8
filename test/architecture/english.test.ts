import test from 'ava'
import { countsOf, differences, hitsIn, hitsInTree, patterns, proseOf } from './english.ts'
import counts from './english-counts.json' with { type: 'json' }

const namesIn = (file: string, text: string): string[] => hitsIn(file, text).map(({ name }) => name)

/** One phrase for each pattern. */
const phrases: Record<string, string> = {
  'a sentence opens with "Of"': 'Closes it. Of a stream, only the head.',
  'a sentence opens with a pronoun': 'Those of a paused job.',
  'those that': 'counts those that wait',
  'one that': 'returns the one that is open',
  'what it is': 'says what is due',
  whoever: 'asks whoever may know',
  tell: 'nothing tells why it ended',
  'go on': 'the others go on',
  'for ever': 'waits for ever',
  beside: 'the file beside it',
  'is to': 'the job that is to start',
  'answers for returns': 'the server answers with 404',
  mend: 'a retry mends it',
  foretell: 'foretells a start',
  'let … be': 'Lets the next pause be none.',
  'by itself': 'ends by itself',
  'for good': 'removed for good',
  'as it does': 'stays as it was',
  inversion: 'a member is none any more',
  'take away': 'takes its folder away',
  'look after': 'looks after an engine',
  'at all': 'if any arrive at all',
  'such a': 'creates such a file',
  'as it were': 'asleep, as it were',
  'so without a noun': 'the tool reads it so.',
  'of its own': 'a folder of its own',
  'an archaic word': 'tried in vain',
}

test('no turn of phrase that a native speaker would avoid becomes more frequent', t => {
  const hits = hitsInTree()
  t.true(new Set(hits.map(({ file }) => file)).size > 10)
  t.is(differences(hits, counts).join('\n'), '')
})

test('every pattern finds its phrase', t => {
  for (const { name } of patterns) {
    t.true(namesIn('a.ts', `/** ${phrases[name]} */`).includes(name), name)
    t.true(namesIn('a.md', `${phrases[name]}\n`).includes(name), name)
  }
})

test('plain phrases are not found', t => {
  const plain = `
    Of course a cache of metrics answers is empty. It can be told apart, besides. Good reasons: what? By all means,
    its aim is to stop, at all times. There is none. Disks format it as servers do. The way on: going ahead. She is so far.
    One of two, unlike those of its own run. Each one has its own folder, as soon as it is open. He was ever amendable. Not at all.`
  t.deepEqual(namesIn('a.ts', `/*${plain}*/`), [])
  t.deepEqual(namesIn('a.md', plain), [])
})

test('comments and titles are read, code and other strings are not', t => {
  const source = `
    const mend = 'waits for ever' // Those of a day.
    /**
     * Runs for
     * ever, beside \`mend\`.
     */
    test('tells the reason', t => t.is(beside, \`mends // \${beside}\`))
    // whoever asks,
    // whoever answers
  `
  const found = hitsIn('a.ts', source).map(({ line, name }) => `${line} ${name}`)
  t.deepEqual(found.sort(), [
    '2 a sentence opens with a pronoun',
    '4 for ever',
    '5 beside',
    '7 tell',
    '8 whoever',
    '9 whoever',
  ])
})

test('docstrings and comments of Python are read, its strings are not', t => {
  const source = `
def tell(mend):
    """Waits for ever."""
    # beside
    return "for ever # mend" + """
tell
"""
`
  t.deepEqual(namesIn('a.py', source).sort(), ['beside', 'for ever'])
})

test('text of pages is read, code in them is not', t => {
  const page = 'Runs [for ever](beside.md).\n\n```\nmend\n```\n`tell`\n'
  t.deepEqual(namesIn('a.md', page), ['for ever'])
})

test('prose keeps the lines of its file', t => {
  const text = "const a = 1\n/**\n * Two.\n */\ntest('three', t => {})\n"
  t.is(proseOf('a.ts', text).split('\n').length, text.split('\n').length)
})

test('a rise is reported with its hits, a fall with what to do', t => {
  const hits = hitsIn('a.ts', '// waits for ever\n// mends it')
  const before = { ...countsOf(hits), 'for ever': 0, mend: 2 }
  t.deepEqual(differences(hits, before), [
    '"for ever" has risen from 0 to 1:\n  a.ts:1: [for ever] // waits for ever',
    '"mend" has fallen from 2 to 1: run npm run english -- --record',
  ])
  t.deepEqual(differences(hits, countsOf(hits)), [])
})
