import { takeUp } from './session/session.ts'

// Asked before the rest of the console is taken apart, which takes longer than the answer.
void takeUp(new AbortController().signal)
void import('./start.tsx')
