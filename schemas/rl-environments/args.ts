import type { ArgsSchema, EnvironmentArgs } from './manifest.ts'

type Argument = ArgsSchema['properties'][string]

/** Why these arguments do not fit the environment, one fault for each; empty if they do. */
export function argsFaults({ properties, required }: ArgsSchema, args: EnvironmentArgs): string[] {
  const missing = required.filter(name => !Object.hasOwn(args, name))
  return [
    ...missing.map(name => `args.${name} is missing`),
    ...Object.entries(args).flatMap(([name, value]) => {
      const argument = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!argument) return `args.${name} is not an argument of this environment`
      const fault = argumentFault(argument, value)
      return fault === null ? [] : `args.${name} ${fault}`
    }),
  ]
}

function argumentFault(argument: Argument, value: unknown): string | null {
  const { type, enum: values, minimum, maximum, maxLength } = argument
  if (!isOfType(type, value)) return `is not of type ${type}`
  if (values && !values.some(one => one === value))
    return `is none of ${values.map(one => JSON.stringify(one)).join(', ')}`
  if (typeof value === 'number' && minimum !== undefined && value < minimum)
    return `is less than ${minimum}`
  if (typeof value === 'number' && maximum !== undefined && value > maximum)
    return `is more than ${maximum}`
  if (typeof value === 'string' && maxLength !== undefined && value.length > maxLength)
    return `is longer than ${maxLength} characters`
  return null
}

const isOfType = (type: Argument['type'], value: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeof value === type
