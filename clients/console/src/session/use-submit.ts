import { type FormEvent, useState } from 'react'

/** Sends what a form holds; `isBusy` stays true after a success, because the form goes away. */
export function useSubmit(send: (given: FormData) => Promise<unknown>) {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (given: FormData) => {
    setBusy(true)
    setError(null)
    try {
      await send(given)
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void submit(new FormData(event.currentTarget))
  }
  return { onSubmit, error, isBusy }
}
