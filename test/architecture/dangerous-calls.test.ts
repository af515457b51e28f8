import test from 'ava'
import { type Source, sourceOf, sources } from './sources.ts'
import { paths, read } from './tree.ts'

/** What an installation runs, in TypeScript. */
const product = sources.filter(({ file }) => !/^(test|bench|deploy)\//.test(file))

type Danger = {
  what: string
  found: (source: Source) => boolean
  allowed?: RegExp
  example: string
}

const calls = (pattern: RegExp) => (source: Source) => pattern.test(source.code)

/** Names that are called in another algorithm than the allowed ones. */
const namesOther = (call: RegExp, allowed: readonly string[]) => (source: Source) =>
  [...source.code.matchAll(call)].some(([, name = '']) => !allowed.includes(name))

const dangers: Danger[] = [
  {
    what: 'text is run as code',
    found: calls(/(?<![.\w])eval\(|\bnew Function\(|from 'node:vm'/),
    example: "eval('1 + 1')",
  },
  {
    what: 'a shell reads the arguments of a program',
    found: calls(/shell: true|\bexecSync\(|\{[^}]*\bexec\b[^}]*\} from 'node:child_process'/),
    example: "import { exec } from 'node:child_process'",
  },
  {
    what: 'HTML is made from text in a page',
    found: calls(/dangerouslySetInnerHTML|\.innerHTML\b|\.outerHTML\b|document\.write\(/),
    example: 'element.innerHTML = name',
  },
  {
    what: 'a page receives messages of other windows',
    found: calls(/addEventListener\('message'|window\.onmessage/),
    example: "window.addEventListener('message', act)",
  },
  {
    what: 'a hash function other than SHA-256',
    found: namesOther(/\b(?:createHash|createHmac|hkdfSync|hash)\('(\w[\w-]*)'/g, ['sha256']),
    // Hubs list small files by the ids that git gives them.
    allowed: /^command-api\/rules\/git-id/,
    example: "createHash('md5')",
  },
  {
    what: 'a cipher other than AES-256 with GCM',
    found: namesOther(/\bcreate(?:Cipher|Decipher)iv\(\s*'([\w-]+)'/g, ['aes-256-gcm']),
    example: "createCipheriv('aes-128-ecb', key, null)",
  },
  {
    what: 'a pair of keys other than P-256',
    found: namesOther(/\bgenerateKeyPair(?:Sync)?\(\s*'\w+', \{ namedCurve: '([\w-]+)'/g, [
      'P-256',
    ]),
    example: "generateKeyPairSync('ec', { namedCurve: 'secp192k1' })",
  },
  {
    what: 'chance that can be guessed, except for pauses and the choice of a broker',
    found: calls(/Math\.random/),
    allowed:
      /^(clients\/cli\/(api|external-runs)\/|platform\/log\/kafka-link|query-api\/sse\/|server\/roles\/effects)/,
    example: 'const token = Math.random()',
  },
]

for (const { what, found, allowed, example } of dangers)
  test(`nothing of an installation does this: ${what}`, t => {
    t.true(product.length > 500)
    t.deepEqual(
      product
        .filter(source => found(source) && !allowed?.test(source.file))
        .map(({ file }) => file),
      [],
    )
    t.true(found(sourceOf('auth/a.ts', example)), 'the example is found')
  })

test('no program in Python runs text as code, starts a shell or loads objects that can', t => {
  const programs = paths.filter(path =>
    /^(clients\/python\/src|recipes|serving|executor)\/.*\.py$/.test(path),
  )
  t.true(programs.length > 20)
  const unsafe =
    /(?<![.\w])(eval|exec)\(|shell=True|os\.system\(|import pickle|allow_pickle=True|yaml\.load\(|\b(md5|sha1)\(/
  t.true(unsafe.test('pickle = import pickle'))
  t.deepEqual(
    programs.filter(path => unsafe.test(read(path))),
    [],
  )
})

const keyed =
  /\b(create(Cipher|Decipher)iv|createHmac|scrypt|hkdfSync|generateKeyPairSync|randomBytes|timingSafeEqual)\(|from '(@node-rs\/argon2|jsonwebtoken)'/

test('the inventory of cryptography names every file that uses a key or makes a secret', t => {
  const using = product.filter(({ code }) => keyed.test(code)).map(({ file }) => file)
  t.true(using.length > 15)
  const inventory = read('docs/operate/security.md').split('## Keys and algorithms')[1] ?? ''
  t.deepEqual(
    using.filter(file => !inventory.includes(`\`${file}\``)),
    [],
  )
})
