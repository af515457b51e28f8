import { type FormEvent, useState } from 'react'

/**
 * An act that somebody asked for. `isBusy`: it is under way; `error` is that of the last one, until `clear`; `submitting`: the act
 * of a form.
 */
export function useAct() {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      await work()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const submitting = (work: () => Promise<unknown>) => (event: FormEvent) => {
    event.preventDefault()
    void act(work)
  }
  return { act, submitting, error, isBusy, clear: () => setError(null) }
}
