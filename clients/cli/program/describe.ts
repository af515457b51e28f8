import { Argument, type Command, InvalidArgumentError, Option } from 'commander'

/** An option or operand: `fallback` is its value when it is left out, `read` turns the word into a value. */
type Detail = {
  text: string
  fallback?: unknown
  choices?: readonly string[]
  /** Throws `InvalidArgumentError`. A repeated option gets its value so far as `before`. */
  read?: (word: string, before: unknown) => unknown
  isRequired?: boolean
  /** Accepted, but not shown: an earlier name. */
  isHidden?: boolean
}
/** The text alone, or with the value when left out, or more. */
type Described = string | readonly [text: string, fallback: string] | Detail

/** The `--help` of a command. */
export type Description = {
  text: string
  /** By how they are written, in their order: `<run>`, `[revision]`, `<runs...>`. */
  operands?: Record<string, Described>
  /** By their flags, in the order of the help: `-l, --limit <count>`. */
  options?: Record<string, Described>
  /** Shown below the options. */
  after?: string
  /** Options after the first operand belong to the program that it names. */
  isPassThrough?: boolean
}

export type Describe = (command: Command) => Command

/** Gives a command its text, operands and options. */
export const describe =
  ({ text, operands = {}, options = {}, after, isPassThrough = false }: Description): Describe =>
  command => {
    command.description(text)
    for (const [name, described] of Object.entries(operands))
      command.addArgument(operandOf(name, detailOf(described)))
    for (const [flags, described] of Object.entries(options))
      command.addOption(optionOf(flags, detailOf(described)))
    if (after !== undefined) command.addHelpText('after', after)
    return isPassThrough ? command.passThroughOptions() : command
  }

function detailOf(described: Described): Detail {
  if (typeof described === 'string') return { text: described }
  if (!isPair(described)) return described
  const [text, fallback] = described
  return { text, fallback }
}

const isPair = (described: Described): described is readonly [string, string] =>
  Array.isArray(described)

function operandOf(name: string, { text, fallback, choices, read }: Detail): Argument {
  const operand = new Argument(name, text)
  if (fallback !== undefined) operand.default(fallback)
  if (choices) operand.choices(choices)
  if (read) operand.argParser(read)
  return operand
}

function optionOf(flags: string, detail: Detail): Option {
  const { text, fallback, choices, read, isRequired, isHidden = false } = detail
  const option = new Option(flags, text)
  if (fallback !== undefined) option.default(fallback)
  if (choices) option.choices(choices)
  if (read) option.argParser(read)
  return option.makeOptionMandatory(isRequired === true).hideHelp(isHidden)
}

/** An option that may be given several times; its value is a list. */
export const repeated = (text: string): Detail => ({
  text,
  fallback: [],
  read: (word, before) => [...(before as readonly string[]), word],
})

export const wholeNumber = (text: string, fallback?: number): Detail => ({
  ...{ text, fallback },
  read: word => {
    if (!/^\d{1,15}$/.test(word)) throw new InvalidArgumentError('A whole number is expected.')
    return Number(word)
  },
})

/** Operands shared by many commands. */
export const oneRun = { '<run>': 'run id or short id' }
export const someRuns = { '<runs...>': 'run ids or short ids' }

export const overrideOption = {
  '--override-gates': 'although benchmarks refuse it; for maintainers, who give a reason',
}

/** An option of lists. */
export const ofProject = { '-p, --project <name>': 'only those of a project' }
