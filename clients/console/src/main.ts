import { takeUp } from './session/session.ts'

// Requested before the rest of the console is parsed, which takes longer than the response.
void takeUp(new AbortController().signal)
void import('./start.tsx')
