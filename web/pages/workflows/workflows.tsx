export function Workflows() {
  return (
    <>
      <title>Workflows · Covenant</title>
      <h1>Workflows</h1>
    </>
  );
}
