export { type AwsCredentials, type AwsSignerOptions, awsSigner } from "./aws-signer.ts";
export { awsRegionOf } from "./region.ts";
export { SigningError } from "./signing-error.ts";
