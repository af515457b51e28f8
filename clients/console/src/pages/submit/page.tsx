export function Page() {
  return <h1>Submit</h1>
}
