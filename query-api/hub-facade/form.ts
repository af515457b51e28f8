import { pathsInfoInput } from '../../schemas/hub-facade.ts'
import { checker, Invalid } from '../../schemas/validate.ts'

const check = checker(pathsInfoInput, 'body')

/** The Hub's Python client asks for paths by a form, although it sends everything else as JSON. */
export function parsePaths(form: Buffer): { paths: string[] } {
  const checked = check({ paths: new URLSearchParams(form.toString()).getAll('paths') })
  if (!checked.ok) throw new Invalid(checked.errors)
  return checked.value as { paths: string[] }
}
