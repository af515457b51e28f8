import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { LoadResult, Plan } from './plan.ts'

/** Runs one plan in a separate process and returns its measurements. */
export function runLoad(plan: Plan): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'generator.ts'))
    let result: LoadResult | null = null
    child.once('message', message => {
      result = message as LoadResult
    })
    child.once('error', reject)
    child.once('exit', code => {
      if (result) resolve(result)
      else reject(new Error(`the load process ended with ${code} and no result`))
    })
    child.send(plan)
  })
}
