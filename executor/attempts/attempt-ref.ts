import type { AttemptRef } from '../port.ts'

/** References of executors that keep a folder for each attempt: each is also its path in the folder of runs. */
export function toRef(run_id: string, attempt: number): AttemptRef {
  const ref = `${run_id}/${attempt}`
  if (!isRef(ref)) throw new Error(`not a run and an attempt that can be executed: ${ref}`)
  return ref
}

export function ofRef(ref: AttemptRef): { run_id: string; attempt: number } {
  const [run_id = '', attempt = ''] = ref.split('/')
  return { run_id, attempt: Number(attempt) }
}

/** Also keeps a reference inside the runs' directory. */
export const isRef = (ref: string): boolean => /^[A-Za-z0-9_-]{1,100}\/[1-9]\d{0,8}$/.test(ref)
