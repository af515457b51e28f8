/** Values of a document's own keys, and `parent.key` of those of an object in it, in their source form. */
export type Found = ReadonlyMap<string, string>

const quote = 0x22
const backslash = 0x5c
/** The longest key or value that is stored, in bytes; a longer value is left out. */
const maxKey = 64
const maxValue = 4096

/**
 * Finds the values of some keys of a JSON object while its bytes pass, however they are cut, without keeping them. Keys of the
 * outermost object count, and as `parent.key` those of an object that is one of its values: a text that looks like one is inside a
 * string, and stays there. Without JSON there are no values.
 */
export class JsonScanner {
  readonly #wanted: ReadonlySet<string>
  readonly #parents: ReadonlySet<string>
  readonly #found = new Map<string, string>()
  #depth = 0
  /** The depth whose keys count: 1, or 2 inside the object of a parent, whose keys begin with its name. */
  #keyDepth = 1
  #prefix = ''
  #inText = false
  #escaped = false
  /** The next text at the depth of keys is a key. */
  #awaitsKey = false
  #key: number[] | null = null
  #name: string | null = null
  #value: number[] | null = null
  #isOver = false

  constructor(wanted: readonly string[]) {
    this.#wanted = new Set(wanted)
    this.#parents = new Set(
      wanted.filter(name => name.includes('.')).map(name => name.slice(0, name.indexOf('.'))),
    )
  }

  get found(): Found {
    return this.#found
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.#isOver; at++) {
      if (this.#inText) {
        at = this.#skipText(chunk, at)
        if (at >= chunk.length) return
      }
      this.#take(chunk[at] as number)
    }
  }

  /** Inside an unwanted string, the next byte that matters is its end or an escape. */
  #skipText(chunk: Uint8Array, from: number): number {
    if (this.#key || this.#value || this.#escaped) return from
    for (let at = from; at < chunk.length; at++)
      if (chunk[at] === quote || chunk[at] === backslash) return at
    return chunk.length
  }

  #take(byte: number): void {
    if (this.#inText) this.#inString(byte)
    else this.#outside(byte)
  }

  #inString(byte: number): void {
    if (this.#escaped) this.#escaped = false
    else if (byte === backslash) this.#escaped = true
    else if (byte === quote) {
      this.#inText = false
      this.#keep(byte)
      if (this.#key) this.#endKey()
      return
    }
    this.#keep(byte)
  }

  #keep(byte: number): void {
    if (this.#key && this.#key.push(byte) > maxKey) this.#key = []
    if (this.#value && this.#value.push(byte) > maxValue) this.#value = null
  }

  #endKey(): void {
    const text = `"${Buffer.from(this.#key ?? []).toString('utf8')}`
    this.#key = null
    this.#awaitsKey = false
    const name = parsed(text)
    this.#name = typeof name === 'string' && this.#counts(name) ? name : null
  }

  #counts(name: string): boolean {
    // A key with a dot in it is no path.
    if (name.includes('.')) return false
    return this.#wanted.has(this.#prefix + name) || this.#mayEnter(name)
  }

  #mayEnter(name: string | null): name is string {
    return this.#keyDepth === 1 && name !== null && this.#parents.has(name)
  }

  #outside(byte: number): void {
    switch (byte) {
      case quote:
        this.#inText = true
        this.#keep(byte)
        if (this.#depth === this.#keyDepth && this.#awaitsKey) this.#key = []
        return
      case 0x7b: // {
      case 0x5b: // [
        this.#open(byte)
        return
      case 0x7d: // }
      case 0x5d: // ]
        this.#close(byte)
        return
      case 0x2c: // ,
        if (this.#depth === this.#keyDepth) this.#endValue()
        else this.#keep(byte)
        return
      case 0x3a: // :
        if (this.#depth === this.#keyDepth && this.#name !== null && !this.#value) this.#value = []
        else this.#keep(byte)
        return
      default:
        this.#keep(byte)
    }
  }

  #open(byte: number): void {
    this.#depth++
    if (byte === 0x7b && this.#depth === 2 && this.#mayEnter(this.#name) && isBlank(this.#value)) {
      this.#prefix = `${this.#name}.`
      this.#keyDepth = 2
      this.#awaitNextKey()
      return
    }
    this.#keep(byte)
    if (this.#depth > 1) return
    // Not an object, so it has no keys.
    if (byte !== 0x7b) this.#isOver = true
    this.#awaitsKey = true
  }

  #close(byte: number): void {
    if (this.#depth === this.#keyDepth) this.#endValue()
    else this.#keep(byte)
    this.#depth--
    if (this.#depth < this.#keyDepth) {
      this.#keyDepth = 1
      this.#prefix = ''
    }
    if (this.#depth <= 0) this.#isOver = true
  }

  #endValue(): void {
    const path = this.#prefix + this.#name
    if (this.#name !== null && this.#value && this.#wanted.has(path))
      this.#found.set(path, Buffer.from(this.#value).toString('utf8').trim())
    this.#awaitNextKey()
  }

  #awaitNextKey(): void {
    this.#name = null
    this.#value = null
    this.#awaitsKey = true
  }
}

const space = 0x20
/** Whether a value has not begun: only white space came so far, all of which sorts before the rest. */
const isBlank = (value: readonly number[] | null): boolean =>
  value?.every(byte => byte <= space) ?? false

/** The value of JSON text; undefined if it is not JSON. */
export function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
