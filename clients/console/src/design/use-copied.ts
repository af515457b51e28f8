import { useEffect, useState } from 'react'

/** Copies text to the clipboard; `isCopied` is true for the two seconds after that. */
export function useCopied() {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (text: string) =>
    void navigator.clipboard?.writeText(text).then(() => setCopied(true))
  return { isCopied, copy }
}
