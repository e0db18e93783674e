/** The region in the host of an API Gateway URL; undefined for other hosts. */
export function awsRegionOf(url: string): string | undefined {
  const host = URL.parse(url)?.hostname ?? "";
  return HOST.exec(host)?.[1];
}

/**
 * `<api>.execute-api.<region>.amazonaws.com`, and its forms for FIPS, private endpoints, IPv6 and
 * China.
 */
const HOST =
  /^[^.]+\.execute-api(?:-fips)?\.([a-z]+(?:-[a-z]+)+-\d+)\.(?:(?:vpce\.)?amazonaws\.com(?:\.cn)?|api\.aws)$/;
