//! Which keys TLS accepts: raw public keys (RFC 7250) of neighbours, and nothing else.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
    UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, CommonState, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};

use crate::identity::{KEY, PublicKey};
use crate::settings::{Neighbour, TransportError, TransportSettings};

/// The handshake refuses any other protocol on the same port.
const PROTOCOL: &[u8] = b"consort/1";
/// The DER prefix of an Ed25519 public key (RFC 8410, section 4).
const PUBLIC: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The DER prefix of an Ed25519 secret key (RFC 8410, section 7).
const SECRET: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// How this agent accepts connections: from any neighbour.
pub(super) fn server(settings: &TransportSettings) -> Result<Arc<ServerConfig>, TransportError> {
    let provider = Arc::new(ring::default_provider());
    let known = settings.neighbours.iter().map(|neighbour| neighbour.key).collect();
    let verifier = Arc::new(Verifier::new(&provider, known, "belongs to no neighbour".to_owned()));
    let own = Arc::new(AlwaysResolvesServerRawPublicKeys::new(own_key(settings, &provider)?));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unexpected)?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(own);
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// How this agent dials `neighbour`: the far end must have that neighbour's key.
pub(super) fn client(
    settings: &TransportSettings,
    neighbour: &Neighbour,
) -> Result<Arc<ClientConfig>, TransportError> {
    let provider = Arc::new(ring::default_provider());
    let other = format!("is not the key of agent {}", neighbour.peer);
    let verifier = Arc::new(Verifier::new(&provider, vec![neighbour.key], other));
    let own = Arc::new(AlwaysResolvesClientRawPublicKeys::new(own_key(settings, &provider)?));
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unexpected)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(own);
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(Arc::new(config))
}

/// TLS requires a server name, although keys have none; it is not sent.
pub(super) fn server_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into())
}

/// The key that the far end has proved.
pub(super) fn peer_key(state: &CommonState) -> Option<&[u8]> {
    key_in(state.peer_certificates()?.first()?)
}

/// The Ed25519 key in the DER encoding of RFC 8410.
fn key_in<'a>(spki: &'a CertificateDer<'_>) -> Option<&'a [u8]> {
    spki.strip_prefix(&PUBLIC).filter(|key| key.len() == KEY)
}

fn own_key(
    settings: &TransportSettings,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, TransportError> {
    let public = settings.secret.public()?;
    let secret = [&SECRET[..], settings.secret.as_bytes()].concat();
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(secret));
    let key = provider.key_provider.load_private_key(secret).map_err(unexpected)?;
    let spki = [&PUBLIC[..], public.as_bytes()].concat();
    Ok(Arc::new(CertifiedKey::new(vec![CertificateDer::from(spki)], key)))
}

fn unexpected(error: Error) -> TransportError {
    TransportError::Setting { setting: "TLS 1.3 with Ed25519 keys", reason: error.to_string() }
}

/// Accepts whoever proves one of the known keys.
#[derive(Debug)]
struct Verifier {
    known: Vec<PublicKey>,
    /// How the error about any other key ends.
    other: String,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn new(provider: &CryptoProvider, known: Vec<PublicKey>, other: String) -> Self {
        Verifier { known, other, algorithms: provider.signature_verification_algorithms }
    }

    fn is_known(&self, spki: &CertificateDer<'_>) -> Result<(), Error> {
        let Some(key) = key_in(spki) else {
            return Err(Error::General("it presented no Ed25519 key".to_owned()));
        };
        if self.known.iter().any(|known| known.as_bytes() == key) {
            return Ok(());
        }
        let shown: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        Err(Error::General(format!("its key {shown} {}", self.other)))
    }

    fn has_signed(
        &self,
        message: &[u8],
        spki: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let spki = SubjectPublicKeyInfoDer::from(spki.as_ref());
        verify_tls13_signature_with_raw_key(message, &spki, signed, &self.algorithms)
    }

    fn no_old_version() -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("only TLS 1.3 is supported".to_owned()))
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.is_known(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Self::no_old_version()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.has_signed(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Verifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.is_known(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Self::no_old_version()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.has_signed(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
